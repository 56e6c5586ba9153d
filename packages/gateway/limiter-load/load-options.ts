import { dimensions, type Limits, maxCost } from '@tradepost/rate-limiter';
import { type Command, InvalidArgumentError } from 'commander';
import type { Distribution } from './in-process/mix.ts';

type LimitOptions = {
  readonly userRpm?: number;
  readonly userTpm?: number;
  readonly tokenRpm?: number;
  readonly tokenTpm?: number;
  readonly ipRpm?: number;
  readonly modelRpm?: number;
  readonly modelTpm?: number;
};
/** The options of `limiter load`, as commander gives them. */
export type LoadOptions = LimitOptions & {
  readonly inProcess?: boolean;
  readonly redisUrl?: string;
  readonly url?: string;
  readonly remote?: boolean;
  readonly tokens?: string;
  readonly chat?: string;
  readonly maxTokens: number;
  readonly timeout: number;
  readonly concurrency: number;
  readonly duration: number;
  readonly rate?: number;
  readonly maxRequests: number;
  readonly maxErrors: number;
  readonly users: number;
  readonly tokensPerUser: number;
  readonly ips: number;
  readonly models: number;
  readonly distribution: Distribution;
  readonly cost: [number, number];
  readonly storeDeadline: number;
  readonly memoryMb: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly plain?: boolean;
};

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const maxDurationMs = 3_600_000;

/** Reads `500ms`, `30s`, `5m` or `1h`. A number alone is seconds. */
export function durationMs(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,7})(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(count) * (unitMs.get(unit) ?? 0);
  if (!(ms > 0 && ms <= maxDurationMs))
    throw new InvalidArgumentError('It must be a duration such as 30s or 5m, at most 1h.');
  return ms;
}

/** Reads a number of tokens (`100`) or a range (`100-3000`). */
export function costRange(text: string): [number, number] {
  const [, least, most = least] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text) ?? [];
  const range: [number, number] = [Number(least), Number(most)];
  if (!(range[0] <= range[1] && range[1] <= maxCost))
    throw new InvalidArgumentError(`It must be a number of tokens or a range such as 100-3000, at most ${maxCost}.`);
  return range;
}

/** Reads the URL of a gateway. Removes `/v1` at its end, which clients of the proxy have in their base URL. */
export function gatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash || url.username)
    throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8081.');
  return text.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** The limits that the command line gives. */
export function givenLimits(options: LimitOptions): Partial<Limits> {
  const { userRpm, userTpm, tokenRpm, tokenTpm, ipRpm, modelRpm, modelTpm } = options;
  const values = [userRpm, userTpm, tokenRpm, tokenTpm, ipRpm, modelRpm, modelTpm];
  return Object.fromEntries(
    dimensions.flatMap((dimension, i) => (values[i] === undefined ? [] : [[dimension, values[i]]])),
  );
}

/** The limits of a run in process: those that are given, else those of a new shop. */
export function inProcessLimits(options: LimitOptions): Limits {
  const given = givenLimits(options);
  const { user_rpm = 60, user_tpm = 100_000 } = given;
  const model = { model_rpm: 0, model_tpm: 0 };
  return { user_rpm, user_tpm, token_rpm: user_rpm, token_tpm: user_tpm, ip_rpm: 600, ...model, ...given };
}

const inProcessOptions = [
  ...['redisUrl', 'storeDeadline', 'memoryMb'],
  ...['users', 'tokensPerUser', 'ips', 'models', 'distribution', 'cost', 'seed'],
];
const httpOptions = ['tokens', 'chat', 'maxTokens', 'timeout'];

const isLoopback = (url: string) => {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
};

/** Ends the command when options contradict each other, or when the address is another machine without `--remote`. */
export function checkUsage({ url, redisUrl, inProcess, remote, chat }: LoadOptions, command: Command): void {
  const fail = (text: string) => command.error(`error: ${text}`);
  if (url && inProcess) fail('give either --in-process or --url');
  const misplaced = (url ? inProcessOptions : httpOptions).find((name) => command.getOptionValueSource(name) === 'cli');
  const flag = command.options.find((option) => option.attributeName() === misplaced)?.long;
  if (flag) fail(url ? `${flag} goes with the limiter in process` : `${flag} goes with --url`);
  if (url && chat === undefined && command.getOptionValueSource('maxTokens') === 'cli')
    fail('--max-tokens goes with --chat');
  const address = url ?? redisUrl;
  if (address && !isLoopback(address) && !remote)
    fail(`${new URL(address).host} is another machine: --remote says that it is meant`);
}
