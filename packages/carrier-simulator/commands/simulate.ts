import { commandName, exitCodes, print, stopSignal, wholeNumber } from '@tradepost/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { type BehaviourOptions, changedBehaviour, faultKinds } from '../behaviour.ts';
import { type Counters, demoAccounts, openCarrierSimulator } from '../simulator.ts';

type SimulateOptions = Omit<BehaviourOptions, 'faultsOf'> & { port: number; host: string; json?: boolean };

function share(text: string): number {
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('It must be a share from 0 to 1, like 0.3.');
  return value;
}

/** The commands that configure a shop for these services. The secrets are those of the demonstration. */
function settingLines(apiUrls: { kuaidi100: string; kdniao: string }): string[] {
  const { kuaidi100, kdniao } = demoAccounts;
  const set = `${commandName()} settings set`;
  return [
    `${set} logistics_kuaidi100.api_url ${apiUrls.kuaidi100}`,
    `${set} logistics_kuaidi100.customer ${kuaidi100.customer}`,
    `printf %s ${kuaidi100.key} | ${set} logistics_kuaidi100.key`,
    `${set} logistics_kdniao.api_url ${apiUrls.kdniao}`,
    `${set} logistics_kdniao.ebusiness_id ${kdniao.ebusinessId}`,
    `printf %s ${kdniao.apiKey} | ${set} logistics_kdniao.api_key`,
    `${set} logistics_router.polling_enabled true`,
  ];
}

function summary({ queries, refused, faults, seen }: Counters): string {
  const faultText = faultKinds.filter((kind) => faults[kind] > 0).map((kind) => `${kind} ${faults[kind]}`);
  return (
    `queries: kuaidi100 ${queries.kuaidi100}, kdniao ${queries.kdniao}; shipments ${Object.keys(seen).length}; ` +
    `refused ${refused}; faults: ${faultText.join(', ') || 'none'}`
  );
}

async function simulate({ port, host, json = false, ...given }: SimulateOptions, command: Command): Promise<void> {
  const checked = changedBehaviour(given);
  if ('faults' in checked) command.error(`error: ${checked.faults.join('; ')}`, { exitCode: exitCodes.usage });
  const stop = stopSignal();
  const simulator = await openCarrierSimulator({ ...given, port, host });
  const apiUrls = { kuaidi100: simulator.apiUrl('kuaidi100'), kdniao: simulator.apiUrl('kdniao') };
  try {
    if (json) print(JSON.stringify({ event: 'ready', pid: process.pid, url: simulator.url, ...apiUrls }));
    else {
      print(`Carrier services at ${simulator.url}\n\nTo let a shop query them:`);
      for (const line of settingLines(apiUrls)) print(line);
      print('\nGET /_counters shows the queries. Ctrl-C ends it.');
    }
    await new Promise<void>((resolve) => {
      if (stop.signal.aborted) resolve();
      else stop.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const { seen, ...counters } = simulator.counters();
    if (json) print(JSON.stringify({ event: 'stopped', ...counters, shipments: Object.keys(seen).length }));
    else print(summary({ ...counters, seen }));
  } finally {
    stop.release();
    await simulator.close();
  }
}

export function addSimulate(group: Command): void {
  group
    .command('simulate')
    .description('run simulated carrier services (kuaidi100 and kdniao), with faults if you want them')
    .option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), 9092)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--latency-ms <number>', 'pause before each answer', wholeNumber(0, 600_000), 50)
    .option('--timeout-rate <share>', 'share of queries that get no answer', share)
    .option('--garbage-rate <share>', 'share of queries that get an answer that is not of the protocol', share)
    .option('--error-rate <share>', 'share of queries that get HTTP 502', share)
    .option('--refuse-rate <share>', 'share of queries about which nothing is known', share)
    .option('--regress-rate <share>', 'share of queries that get the first state of the shipment again', share)
    .option('--json', 'JSON lines: ready, stopped')
    .addHelpText(
      'after',
      '\nExamples:\n  $ tradepost carriers simulate\n  $ tradepost carriers simulate --timeout-rate 0.1 --garbage-rate 0.1 --regress-rate 0.2\n\n' +
        'The answers are the recordings of fixtures/carriers: the n-th query of a shipment gets the n-th answer.\n' +
        'Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.',
    )
    .action(simulate);
}
