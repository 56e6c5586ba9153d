import type { RegisterCommand } from '@tradepost/module';
import { commandName, print, stopSignal, wholeNumber } from '@tradepost/terminal';
import { serviceNames } from '../service.ts';
import { openPaymentSimulator, type PaymentSimulator } from '../simulator.ts';

type Options = { port: number; host: string; shopUrl: string; json?: boolean };

/** The commands that configure a shop. A key has no line breaks: settings take keys without them. */
function settingLines(simulator: PaymentSimulator): string[] {
  const set = `${commandName()} settings set`;
  return simulator
    .settings()
    .map(({ key, value, secret }) =>
      secret ? `printf %s '${value.replaceAll('\n', '')}' | ${set} ${key}` : `${set} ${key} '${value}'`,
    );
}

async function simulate({ port, host, shopUrl, json = false }: Options): Promise<void> {
  const stop = stopSignal();
  const simulator = await openPaymentSimulator({ port, host, automatic: true });
  simulator.stripe.setEndpoint(`${shopUrl.replace(/\/$/, '')}/api/v1/notify/stripe`);
  try {
    if (json)
      print(JSON.stringify({ event: 'ready', pid: process.pid, url: simulator.url, settings: simulator.settings() }));
    else {
      print(`Payment services at ${simulator.url}\n\nTo let a shop use them:`);
      for (const line of settingLines(simulator)) print(line);
      print('\nOne of these, for payments that name no provider:');
      for (const name of serviceNames) print(`${commandName()} settings set pay.provider ${name}`);
      print(`\n${simulator.url}/ lists the payments and pays them. Ctrl-C ends it.`);
    }
    await new Promise<void>((resolve) => {
      if (stop.signal.aborted) resolve();
      else stop.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const counters = simulator.counters();
    if (json) print(JSON.stringify({ event: 'stopped', ...counters }));
    else
      print(
        Object.entries(counters)
          .map(([name, calls]) => `${name} ${calls}`)
          .join(', '),
      );
  } finally {
    stop.release();
    await simulator.close();
  }
}

export const register: RegisterCommand = (command) => {
  command
    .option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), 9094)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--shop-url <url>', 'address of the shop, for the webhooks of Stripe', 'http://127.0.0.1:8080')
    .option('--json', 'JSON lines: ready, stopped')
    .addHelpText(
      'after',
      '\nExamples:\n  $ tradepost pay simulate\n  $ tradepost pay simulate --shop-url http://127.0.0.1:8090\n\n' +
        'A payment is paid on its cashier page; the notice follows at once. Refunds are settled after a second.\n' +
        'Each start has new keys. Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.',
    )
    .action(simulate);
};
