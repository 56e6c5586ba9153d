import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import {
  dimensions,
  type Limits,
  maxCost,
  openEmbeddedLimiter,
  openRedisLimiter,
  windowMs,
} from '@tradepost/rate-limiter';
import { openLog } from '@tradepost/runtime';
import {
  print,
  printJson,
  progress,
  refuseSecretOption,
  stopSignal,
  warnOfPassword,
  wholeNumber,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadLimiter } from '../limiter-load/in-process/load-limiter.ts';
import { type Distribution, distributions } from '../limiter-load/in-process/mix.ts';
import type { LoadRun } from '../limiter-load/load-run.ts';
import { openAsk } from '../limiter-load/over-http/ask-gateway.ts';
import { loadGateway } from '../limiter-load/over-http/load-gateway.ts';
import type { PaceOptions } from '../limiter-load/pace.ts';
import { progressLine } from '../limiter-load/progress-line.ts';
import { exitCodeOf, reportOf, reportText } from '../limiter-load/report.ts';
import { limitNumber } from './limits.ts';

type LimitOptions = {
  userRpm?: number;
  userTpm?: number;
  tokenRpm?: number;
  tokenTpm?: number;
  ipRpm?: number;
  modelRpm?: number;
  modelTpm?: number;
};
type LoadOptions = LimitOptions & {
  inProcess?: boolean;
  redisUrl?: string;
  url?: string;
  remote?: boolean;
  tokens?: string;
  adminToken?: string;
  chat?: string;
  maxTokens: number;
  timeout: number;
  concurrency: number;
  duration: number;
  rate?: number;
  maxRequests: number;
  maxErrors: number;
  users: number;
  tokensPerUser: number;
  ips: number;
  models: number;
  distribution: Distribution;
  cost: [number, number];
  storeDeadline: number;
  memoryMb: number;
  seed: number;
  json?: boolean;
  plain?: boolean;
};

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const longestMs = 3_600_000;
const lineMs = 1_000;

function durationMs(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,7})(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(count) * unitMs[unit as keyof typeof unitMs];
  if (!(ms > 0 && ms <= longestMs))
    throw new InvalidArgumentError('It must be a duration such as 30s or 5m, at most 1h.');
  return ms;
}

function costRange(text: string): [number, number] {
  const [, least, most = least] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text) ?? [];
  const range: [number, number] = [Number(least), Number(most)];
  if (!(range[0] <= range[1] && range[1] <= maxCost))
    throw new InvalidArgumentError(`It must be a number of tokens or a range such as 100-3000, at most ${maxCost}.`);
  return range;
}

const secret = /^[\x21-\x7e]{1,500}$/;

function gatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash || url.username)
    throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8081.');
  return text.replace(/\/+$/, '').replace(/\/v1$/, '');
}

const isLoopback = (url: string) => {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
};

/** What the user has told of the limits. */
function givenLimits({
  userRpm,
  userTpm,
  tokenRpm,
  tokenTpm,
  ipRpm,
  modelRpm,
  modelTpm,
}: LimitOptions): Partial<Limits> {
  const values = [userRpm, userTpm, tokenRpm, tokenTpm, ipRpm, modelRpm, modelTpm];
  return Object.fromEntries(
    dimensions.flatMap((dimension, i) => (values[i] === undefined ? [] : [[dimension, values[i]]])),
  );
}

/** Those of a new shop. */
function inProcessLimits(given: Partial<Limits>): Limits {
  const { user_rpm = 60, user_tpm = 100_000 } = given;
  const model = { model_rpm: 0, model_tpm: 0 };
  return { user_rpm, user_tpm, token_rpm: user_rpm, token_tpm: user_tpm, ip_rpm: 600, ...model, ...given };
}

const onlyInProcess = [
  ...[
    'redisUrl',
    'users',
    'tokensPerUser',
    'ips',
    'models',
    'distribution',
    'cost',
    'seed',
    'storeDeadline',
    'memoryMb',
  ],
];
const onlyOverHttp = ['tokens', 'chat', 'maxTokens', 'timeout'];

function checkUsage({ url, redisUrl, inProcess, remote, chat }: LoadOptions, command: Command): void {
  const fail = (text: string) => command.error(`error: ${text}`);
  if (url && inProcess) fail('give either --in-process or --url');
  const misplaced = (url ? onlyInProcess : onlyOverHttp).find((name) => command.getOptionValueSource(name) === 'cli');
  const flag = command.options.find((option) => option.attributeName() === misplaced)?.long;
  if (flag) fail(url ? `${flag} goes with the limiter in process` : `${flag} goes with --url`);
  if (url && chat === undefined && command.getOptionValueSource('maxTokens') === 'cli')
    fail('--max-tokens goes with --chat');
  const address = url ?? redisUrl;
  if (address && !isLoopback(address) && !remote)
    fail(`${new URL(address).host} is another machine: --remote says that it is meant`);
}

/** A run under way and how to leave nothing of it behind. */
type Opened = { run: LoadRun; close(): Promise<void> };

async function openEmbedded(options: LoadOptions, pace: PaceOptions): Promise<Opened> {
  const limiter = openEmbeddedLimiter({ memoryMb: options.memoryMb });
  const limits = inProcessLimits(givenLimits(options));
  const { concurrency } = options;
  const load = {
    ...pace,
    mix: options,
    limits,
    concurrency,
    windowMs,
    cacheHits: null,
    evicted: () => limiter.evicted,
  };
  return { run: loadLimiter(limiter, load), close: () => limiter.close() };
}

async function openShared(options: LoadOptions, pace: PaceOptions, live: boolean): Promise<Opened> {
  const { redisUrl = '', concurrency, storeDeadline } = options;
  const prefix = `tradepost:limit-load:${randomBytes(6).toString('hex')}:`;
  let hits = 0;
  const limiter = openRedisLimiter({
    ...{ urls: [redisUrl], prefix, deadlineMs: () => storeDeadline },
    log: openLog({ level: live ? 'silent' : 'error' }),
    onCacheHit: () => {
      hits += 1;
    },
  });
  await limiter.ready();
  try {
    await limiter.inspect({ kind: 'model', key: 'none' });
  } catch (error) {
    await limiter.close();
    throw new Error(`Redis does not answer at ${new URL(redisUrl).host}: ${(error as Error).message}`);
  }
  const limits = inProcessLimits(givenLimits(options));
  const load = { ...pace, mix: options, limits, concurrency, windowMs, cacheHits: () => hits, evicted: () => 0 };
  return {
    run: loadLimiter(limiter, load),
    async close() {
      await limiter.reset().catch(() => progress(`keys ${prefix}* are left behind: they expire within two minutes`));
      await limiter.close();
    },
  };
}

async function tokensOf({ tokens: file }: LoadOptions, command: Command): Promise<string[]> {
  if (file === undefined) command.error('error: --url needs API tokens: --tokens <file>, or - for standard input');
  const given = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  const all = given
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (all.length === 0) command.error(`error: there is no API token in ${file}`);
  if (!all.every((each) => secret.test(each))) command.error(`error: a line of ${file} is no token`);
  return [...new Set(all)];
}

async function openGateway(options: LoadOptions, pace: PaceOptions, command: Command): Promise<Opened> {
  const { url = '', chat, maxTokens, concurrency, timeout } = options;
  const adminToken = process.env.TRADEPOST_ADMIN_TOKEN ?? null;
  const tokens = await tokensOf(options, command);
  const ask = openAsk(url, { connections: concurrency, timeoutMs: timeout });
  try {
    await ask('GET', '/health').catch((error: NodeJS.ErrnoException) => {
      throw new Error(`no gateway answers at ${url} (${error.code ?? error.message})`);
    });
    const asked = { tokens, chat: chat === undefined ? null : { model: chat, maxTokens } };
    const run = await loadGateway(ask, {
      ...{ ...pace, ...asked, concurrency, windowMs, limits: givenLimits(options), adminToken },
    });
    return { run, close: async () => ask.close() };
  } catch (error) {
    ask.close();
    throw error;
  }
}

/** The live view, or a line a second; until the run has ended. */
async function show(run: LoadRun, { maxErrors, live, stop }: { maxErrors: number; live: boolean; stop: () => void }) {
  if (live) {
    const { showLoad } = await import('../limiter-load/view.ts');
    return showLoad(run, { maxErrors, onQuit: stop });
  }
  const line = progressLine(run);
  const timer = setInterval(() => progress(line()), lineMs);
  return () => clearInterval(timer);
}

async function load(options: LoadOptions, command: Command): Promise<void> {
  checkUsage(options, command);
  warnOfPassword('--redis-url', options.redisUrl, 'a Redis without one');
  const { url = null, redisUrl, duration, rate = null, maxRequests, maxErrors, seed, json, plain } = options;
  const live = process.stdout.isTTY === true && !json && !plain;
  const stop = stopSignal();
  const quit = new AbortController();
  const pace = { durationMs: duration, rate, maxRequests, signal: AbortSignal.any([stop.signal, quit.signal]) };
  try {
    const opened = await (url
      ? openGateway(options, pace, command)
      : redisUrl
        ? openShared(options, pace, live)
        : openEmbedded(options, pace));
    const { run } = opened;
    try {
      const hide = await show(run, { maxErrors, live, stop: () => quit.abort() });
      await run.done.finally(hide);
    } finally {
      await opened.close();
    }
    const given = givenLimits(options);
    const limits = url ? given : inProcessLimits(given);
    const report = await reportOf(run, { url, seed, limits, maxErrors });
    if (json) printJson(report);
    else print(reportText(report));
    process.exitCode = exitCodeOf(report);
  } finally {
    stop.release();
  }
}

const about = `
Examples:
  $ tradepost limiter load --users 100000 --duration 30s
  $ tradepost limiter load --redis-url redis://127.0.0.1:6379 --concurrency 200 --user-rpm 600
  $ printf %s "$KEY" | tradepost limiter load --url http://127.0.0.1:8081 --tokens - --rate 50
  $ tradepost limiter load --url http://127.0.0.1:8081 --tokens keys.txt --chat gpt-4o-mini --max-tokens 16 --json

In process every verdict is held against the run's own log of what was admitted, by the limiter's clock: no window of 60 s
of any key may hold more than its limit, and nothing may be refused that had room. Over HTTP only what is certain from
outside counts: more than the limit admitted in requests that were sent and answered within less than a window. The limits
are those given here, else those read with the login token of an administrator in
TRADEPOST_ADMIN_TOKEN, else those that refusals name. What passed unchecked, as the
store did not answer, explains as much. With several gateways behind one address /metrics tells of one of them only, and
limits that are changed during a run are held against all of it.

--json prints one object: target, url, ended (duration, max_requests, stopped, log_full), seconds, seed, requests,
per_second, admitted, refused, refused_by (dimension: count), unchecked, errors, max_errors, error_kinds, latency_ms (mean,
p50, p99, max), limits, passed, and exactness: method (exact, bound, none), over_admissions, false_refusals (null: can not
be told), unsure_refusals, explained_by_unchecked, verified and not_verified (dimensions), notes, proofs (what, key,
dimension, count, limit, at), evicted, unchecked_by_metrics.

Exit codes: 0 exact, 1 over-admission, false refusal, or more errors than --max-errors, 2 wrong usage.`;

export function addLoad(group: Command): void {
  const command = group
    .command('load')
    .description('load-test the limiter in process or a running gateway, and verify that its limits are exact')
    .option('--in-process', 'the limiter itself, in this process (default without --url)')
    .option(
      '--redis-url <url>',
      'in process on this Redis or Valkey, under keys of its own that are removed afterwards',
    )
    .option('--url <url>', 'a running gateway, such as http://127.0.0.1:8081', gatewayUrl)
    .option('--remote', 'the address is another machine on purpose')
    .option('--tokens <file>', 'file with an API token on each line; - is standard input')
    .option('--chat <model>', 'POST real chat completions, which upstreams may bill (default: GET /v1/models)')
    .addOption(
      new Option('--max-tokens <n>', 'output tokens of a chat completion')
        .default(16)
        .argParser(wholeNumber(1, maxCost)),
    )
    .addOption(new Option('--timeout <time>', 'for one answer').default(30_000, '30s').argParser(durationMs))
    .addOption(new Option('--duration <time>', 'such as 30s or 5m').default(10_000, '10s').argParser(durationMs))
    .option('--concurrency <n>', 'requests under way at once', wholeNumber(1, 10_000), 50)
    .option('--rate <n>', 'requests per second (default: as many as can be)', wholeNumber(1, 10_000_000))
    .option('--max-requests <n>', 'end after so many', wholeNumber(1, 10_000_000_000), 1_000_000_000)
    .option('--max-errors <n>', 'more errors than these fail the run', wholeNumber(0, 1_000_000_000), 0)
    .option('--users <n>', 'in the mix', wholeNumber(1, 2_000_000), 1_000)
    .option('--tokens-per-user <n>', 'API tokens of each user', wholeNumber(0, 100), 2)
    .option('--ips <n>', 'networks that requests come from', wholeNumber(0, 1_000_000), 250)
    .option('--models <n>', 'in the mix', wholeNumber(0, 10_000), 4)
    .addOption(
      new Option('--distribution <how>', 'of users and models').choices(distributions).default('zipf' as Distribution),
    )
    .addOption(
      new Option('--cost <tokens>', 'that a request is charged, a number or a range')
        .default([100, 3_000], '100-3000')
        .argParser(costRange),
    );
  for (const dimension of dimensions) {
    const [of, unit] = dimension.split('_') as [string, string];
    const what = `${unit === 'rpm' ? 'requests' : 'tokens'} per minute of a ${of === 'ip' ? 'network' : of}; 0 is unlimited`;
    command.option(`--${of}-${unit} <n>`, what, limitNumber);
  }
  command
    .option('--store-deadline <ms>', 'what Redis gets to answer', wholeNumber(1, 10_000), 50)
    .option('--memory-mb <n>', 'most memory of the limiter without Redis', wholeNumber(1, 16_384), 256)
    .option('--seed <n>', 'of the mix: the same requests again', wholeNumber(0, 2 ** 32), 1)
    .option('--json', 'print the report as JSON')
    .option('--plain', 'a line a second instead of the live view, also on a terminal')
    .addHelpText('after', about)
    .action(load);
  refuseSecretOption(command, '--token <secret>', 'use --tokens <file>, or --tokens - for standard input');
  refuseSecretOption(command, '--admin-token <token>', 'use TRADEPOST_ADMIN_TOKEN');
}
