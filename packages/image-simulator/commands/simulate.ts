import type { RegisterCommand } from '@tradepost/module';
import { commandName, exitCodes, print, stopSignal, wholeNumber } from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { type BehaviourOptions, changedBehaviour, type FaultKind, faultKinds } from '../behaviour.ts';
import { type Counters, type ImageSimulator, openImageSimulator } from '../simulator.ts';
import { addShare, planOf } from './fault-options.ts';

type SimulateOptions = Pick<BehaviourOptions, 'latencyMs' | 'answers'> & {
  port: number;
  host: string;
  fault?: BehaviourOptions['faults'];
  plan?: (FaultKind | null)[];
  json?: boolean;
};

/** The commands that let a shop use these services. The key is that of the demonstration. */
function shopLines({ url, models }: ImageSimulator): string[] {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const commands = Object.entries(models).map(
    ([driver, { endpoint, key }]) =>
      `printf %s ${key} | ${commandName()} ai models add "Simulator ${driver}" ${driver} ` +
      `--endpoint ${endpoint} --ref-image --key-stdin`,
  );
  return [`export ALLOWED_PRIVATE_NETWORKS=${host}`, ...commands];
}

function summary({ requests, pictures, refused, faults }: Counters): string {
  const faultText = faultKinds.filter((kind) => faults[kind] > 0).map((kind) => `${kind} ${faults[kind]}`);
  return `requests ${requests}, pictures ${pictures}, refused ${refused}; faults: ${faultText.join(', ') || 'none'}`;
}

const untilStopped = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function simulate(options: SimulateOptions, command: Command): Promise<void> {
  const { port, host, fault: faults, plan = [], json = false, ...rest } = options;
  const given = faults ? { ...rest, faults } : rest;
  const checked = changedBehaviour(given);
  if ('problems' in checked) command.error(`error: ${checked.problems.join('; ')}`, { exitCode: exitCodes.usage });
  const stop = stopSignal();
  const simulator = await openImageSimulator({ ...given, port, host });
  simulator.plan(...plan);
  try {
    const { url, models } = simulator;
    if (json) print(JSON.stringify({ event: 'ready', pid: process.pid, url, models }));
    else {
      print(`Image services at ${url}\n`);
      print('To let a shop use them (restart a shop that runs):');
      for (const line of shopLines(simulator)) print(line);
      print('\nGET /_counters shows the requests. Ctrl-C ends it.');
    }
    await untilStopped(stop.signal);
    if (json) print(JSON.stringify({ event: 'stopped', ...simulator.counters() }));
    else print(summary(simulator.counters()));
  } finally {
    stop.release();
    await simulator.close();
  }
}

export const register: RegisterCommand = (command) => {
  command
    .option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), 9093)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--latency-ms <number>', 'pause before each answer', wholeNumber(0, 600_000), 500)
    .addOption(
      new Option('--answers <form>', 'pictures inside the answers, or addresses of them; some services have one only')
        .choices(['b64_json', 'url'])
        .default('b64_json'),
    )
    .option('--fault <kind=share>', 'share of the requests that have this fault; may be repeated', addShare)
    .option('--plan <kinds>', 'faults of the first requests, comma-separated; none for no fault', planOf)
    .option('--json', 'JSON lines: ready, stopped')
    .addHelpText(
      'after',
      '\nExamples:\n  $ tradepost ai simulate\n  $ tradepost ai simulate --fault rate_limit=0.2 --fault error=0.1 --answers url\n' +
        `  $ tradepost ai simulate --plan error,none,policy\n\nFaults: ${faultKinds.join(', ')}.\n` +
        'Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.',
    )
    .action(simulate);
};
