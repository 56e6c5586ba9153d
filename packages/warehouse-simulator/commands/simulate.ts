import type { RegisterCommand } from '@tradepost/module';
import {
  bold,
  commandName,
  exitCodes,
  listOf,
  print,
  readSecret,
  refuseSecretOption,
  stopSignal,
  table,
  wholeNumber,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type BehaviourOptions, changedBehaviour } from '../behaviour/behaviour.ts';
import type { Counters } from '../counters.ts';
import { openSimulator, type Simulator } from '../simulator.ts';

type SimulateOptions = BehaviourOptions & {
  port: number;
  host: string;
  appKey: string;
  appSecretStdin?: boolean;
  signatureTtl: number;
  stock: number;
  journal?: string;
  control?: boolean;
  seed: number;
  every?: number;
  json?: boolean;
};

const ms = wholeNumber(0, 3_600_000);
const callbackPath = '/admin/api/external-wms/callback';

function share(text: string): number {
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('It must be a share from 0 to 1, like 0.3.');
  return value;
}

const codeList = (text: string): number[] => listOf(text).map(wholeNumber(1, 999_999_999));
/** Quotes a value for a shell. A value that `settings set` would read as JSON is quoted as a JSON text. */
function shellWord(text: string): string {
  let value = text;
  try {
    value = typeof JSON.parse(text) === 'string' ? text : JSON.stringify(text);
  } catch {}
  return /^[\w.:/@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** The commands that configure a shop for this warehouse. They do not contain the secret. */
function settingLines({ url }: Simulator, { appKey, appSecretStdin, callbacks }: SimulateOptions): string[] {
  const isAsync = callbacks === 'async';
  const set = `${commandName()} settings set`;
  const lines = [
    ['external_wms.endpoint', url],
    ['external_wms.app_key', shellWord(appKey)],
    ['external_wms.callback_enabled', String(isAsync)],
    ['inventory.external_mode', isAsync ? 'async' : 'sync'],
    ['inventory.provider', 'external_wms'],
  ].map(([key, value]) => `${set} ${key} ${value}`);
  const secret = `${set} external_wms.app_secret`;
  return [...lines, appSecretStdin ? secret : `printf %s "\${WMS_APP_SECRET:?set it in this shell too}" | ${secret}`];
}

const sum = (of: Readonly<Record<string, number>>) => Object.values(of).reduce((total, n) => total + n, 0);

function liveLine(now: Counters, before: Counters, seconds: number): string {
  const { delivered, duplicates, lost, refused, given_up } = now.callbacks;
  const parts = [
    `calls ${now.calls} (${Math.round((now.calls - before.calls) / seconds)}/s)`,
    `repeats ${now.repeats}`,
    `refused ${sum(now.refusals)}`,
    `faults ${sum(now.faults)}`,
  ];
  if (now.callbacks.sent > 0 || lost > 0)
    parts.push(`callbacks ${delivered} delivered, ${duplicates} doubled, ${lost} lost, ${refused + given_up} failed`);
  return parts.join('  ');
}

/** Prints a summary of the ledger. */
function printLedger(simulator: Simulator, isJson: boolean): void {
  const { skus, documents, counters, callbacks } = simulator.ledger();
  const states: Record<string, number> = {};
  for (const { state } of documents) if (state) states[state] = (states[state] ?? 0) + 1;
  const reserved = skus.reduce((total, sku) => total + sku.reserved, 0);
  const net_change = skus.reduce((total, sku) => total + sku.net_change, 0);
  if (isJson) {
    const summary = { skus: skus.length, reserved, net_change, documents: states, open_callbacks: callbacks.length };
    print(JSON.stringify({ event: 'ledger', ...summary, counters }));
    return;
  }
  const pairs = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .filter(([, n]) => n > 0)
      .map(([name, n]) => `${name} ${n}`)
      .join(', ') || '-';
  print(
    table([
      ['SKUs', `${skus.length}, ${reserved} pieces reserved, ${net_change} net change on hand`],
      ['Documents', pairs(states)],
      ['Calls', `${counters.calls}: ${pairs(counters.by_call)}; ${counters.repeats} repeats`],
      ['Refusals', pairs(counters.refusals)],
      ['Faults', pairs(counters.faults)],
      ['Callbacks', `${pairs(counters.callbacks)}; ${callbacks.length} open`],
    ]),
  );
}

const flagOf = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
/** Replaces the names of options in a fault by the flags of the command. */
const inFlags = (fault: string) => fault.replace(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, flagOf);

async function simulate(options: SimulateOptions, command: Command): Promise<void> {
  const { port, host, appKey, signatureTtl, stock, journal, control, seed, every, json = false, ...rest } = options;
  const { appSecretStdin, ...behaviour } = rest;
  const appSecret = appSecretStdin ? await readSecret('Secret') : (process.env.WMS_APP_SECRET ?? '');
  const checked = changedBehaviour(behaviour);
  const faults = 'faults' in checked ? checked.faults : [];
  if (appSecret === '')
    faults.unshift('the secret is missing: set WMS_APP_SECRET, or give it on standard input with --app-secret-stdin');
  if (appKey === '') faults.unshift('--app-key must not be empty');
  if (faults.length > 0)
    command.error(`error: ${faults.map(inFlags).join('\nerror: ')}`, { exitCode: exitCodes.usage });

  const stop = stopSignal();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const simulator = await openSimulator({
    ...{ ...behaviour, port, host, appKey, appSecret, signatureTtl, stock, journal, control, seed },
  });
  if (json) print(JSON.stringify({ event: 'ready', url: simulator.url, app_key: appKey, ...simulator.behaviour() }));
  else
    print(
      [
        `Simulated warehouse is ready at ${bold(simulator.url)}`,
        '',
        'A shop uses it after a restart with these settings:',
        ...settingLines(simulator, options).map((line) => `  ${line}`),
        '',
      ].join('\n'),
    );

  const live = process.stdout.isTTY === true && !json;
  const seconds = every ?? (live ? 1 : 10);
  let before = simulator.counters();
  const timer = setInterval(() => {
    const now = simulator.counters();
    if (json) print(JSON.stringify({ event: 'counters', at: new Date().toISOString(), ...now }));
    else {
      const line = liveLine(now, before, seconds);
      // Each update overwrites the line. It is cut to the width of the terminal: a wrapped line can not be overwritten.
      if (live) process.stdout.write(`\r\u001b[2K${line.slice(0, (process.stdout.columns || 80) - 1)}`);
      else print(line);
    }
    before = now;
  }, seconds * 1_000);
  await stopped;
  clearInterval(timer);
  if (live) process.stdout.write('\r\u001b[2K');
  await simulator.close();
  stop.release();
  printLedger(simulator, json);
}

const addFaultOptions = (command: Command): Command =>
  command
    .option('--delay-ms <number>', 'delay of each call', ms)
    .option('--jitter-ms <number>', 'largest random addition to the delay', ms)
    .option('--fail-rate <share>', 'share of calls that get a failure code', share)
    .option('--fail-codes <codes>', 'failure codes, comma-separated (default: the codes that are retried)', codeList)
    .option('--hang-rate <share>', 'share of calls that get no answer', share)
    .option('--html-rate <share>', 'share of calls that get an HTML page', share)
    .option('--string-code-rate <share>', 'share of calls that get the code "0" as a text', share)
    .option('--close-rate <share>', 'share of calls whose connection is cut', share)
    .option('--fail-after <share>', 'share of faults that happen after the work is done (default 0.5)', share)
    .option('--faults-per-key <number>', 'largest number of faults per action of a document', wholeNumber(0, 1_000_000))
    .addOption(
      new Option('--fault-calls <calls>', 'calls that can have faults, comma-separated: reserve,confirm').argParser(
        listOf,
      ),
    )
    .option('--no-remember-refusals', 'decide a refused action again when it is delivered again');

const addCallbackOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--callbacks <mode>', 'async: code 0 means accepted, and a callback reports the result')
        .choices(['none', 'async'])
        .default('none'),
    )
    .option('--callback-url <url>', `URL of the shop for callbacks, <shop>${callbackPath}`)
    .option('--callback-delay-ms <number>', 'time between accepting and the callback', ms)
    .option('--callback-jitter-ms <number>', 'largest random addition to that time', ms)
    .addOption(
      new Option('--carry-out <when>', 'do the work when the action is accepted, or later').choices([
        'at_once',
        'later',
      ]),
    )
    .addOption(
      new Option('--refusals-by <way>', 'how a shortage is reported with callbacks').choices(['code', 'callback']),
    )
    .option('--duplicate-rate <share>', 'share of callbacks that are sent twice', share)
    .option('--late-rate <share>', 'share of callbacks that are late', share)
    .option('--late-ms <number>', 'delay of late callbacks (default 5000)', ms)
    .option('--early-rate <share>', 'share of callbacks that are sent before the answer to the call', share)
    .option('--failed-callback-rate <share>', 'share of actions that are refused by a callback without reason', share)
    .option(
      '--processing-first-rate <share>',
      'share of callbacks that follow a callback with status processing',
      share,
    )
    .option(
      '--lost-callback-rate <share>',
      'share of callbacks that are sent only when the shop delivers again',
      share,
    );

export const register: RegisterCommand = (command) => {
  command
    .option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), 9090)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--app-key <text>', 'key that the shop calls with', 'demo')
    .option('--app-secret-stdin', 'read the secret of both sides from standard input (default: WMS_APP_SECRET)')
    .option('--signature-ttl <seconds>', 'largest difference of a timestamp', wholeNumber(1, 86_400), 300)
    .option('--stock <number>', 'initial quantity on hand of each SKU', wholeNumber(0, 2_000_000_000), 1_000_000)
    .option('--journal <file>', 'file that keeps ledger and idempotency keys across a restart')
    .option('--control', 'let POST /_control from this machine change the behaviour')
    .option(
      '--seed <number>',
      'seed of the random generator: the same calls get the same faults',
      wholeNumber(0, 2 ** 32),
      1,
    );
  addFaultOptions(command);
  addCallbackOptions(command);
  command
    .option(
      '--every <seconds>',
      'time between two lines of counters (default: 1 on a terminal, otherwise 10)',
      wholeNumber(1, 3_600),
    )
    .option('--json', 'JSON lines: ready, counters, ledger')
    .addHelpText(
      'after',
      `\nExamples:\n  $ WMS_APP_SECRET=s3cret tradepost wms simulate\n  $ WMS_APP_SECRET=s3cret tradepost wms simulate --fail-rate 0.3 --fail-codes 1001,5000 --delay-ms 20 --jitter-ms 80\n  $ WMS_APP_SECRET=s3cret tradepost wms simulate --callbacks async --callback-url http://127.0.0.1:8080${callbackPath} --duplicate-rate 0.2\n\nThe ledger: GET /_ledger. Ctrl-C prints a summary.\nExit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.`,
    )
    .action(simulate);
  refuseSecretOption(command, '--app-secret <text>', 'use WMS_APP_SECRET or --app-secret-stdin');
};
