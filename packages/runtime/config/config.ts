import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';

/** The parts of the server that `--only` can choose from. */
export const roles = ['api', 'worker', 'gateway'] as const;
export type Role = (typeof roles)[number];

type Field = {
  env: string;
  schema: z.ZodType;
  about: string;
  /** Masked wherever the configuration is printed. */
  secret?: boolean;
  /** How it is printed where `String` does not say what the variable would hold. */
  show?: (value: unknown) => string;
  flag?: string;
};

/** Text becomes a number; null, true and blanks do not, as `Number()` would make 0 or 1 of them. */
const whole = (min: number, max: number) => ({ error: `must be a whole number from ${min} to ${max}` });
const int = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
    z.number(whole(min, max)).int(whole(min, max)).min(min, whole(min, max)).max(max, whole(min, max)),
  );
const url = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `must be a URL beginning with ${protocols.map((p) => `${p}//`).join(' or ')}`,
  });
/** One or several, comma-separated: the nodes that a cluster is found through. */
const redisUrls = z.string().refine(
  (text) =>
    text.split(',').every((part) => {
      const one = part.trim();
      return URL.canParse(one) && ['redis:', 'rediss:'].includes(new URL(one).protocol);
    }),
  { error: 'must be URLs beginning with redis:// or rediss://, comma-separated' },
);
/** Addresses and networks (`10.0.0.0/8`), comma-separated. */
const networks = z.preprocess(
  (value) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean)
      : value,
  z.array(
    z.string().refine(
      (text) => {
        const [address = '', bits, more] = text.split('/');
        const width = isIP(address) === 6 ? 128 : 32;
        const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
        return isIP(address) !== 0 && fits && more === undefined;
      },
      { error: 'must be addresses or networks such as 127.0.0.1,10.0.0.0/8' },
    ),
  ),
);
/** `host[:port]`, comma-separated, each with a scheme before it where that is not http. */
const hosts = z.preprocess(
  (value) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((part) => part.trim().toLowerCase())
          .filter(Boolean)
      : value,
  z.array(
    z.string().refine(
      (text) => {
        const origin = /^https?:\/\//.test(text) ? text : `http://${text}`;
        return URL.canParse(origin) && /^https?:\/\/[^/?#@\s]+$/.test(origin);
      },
      { error: 'must be hosts such as shop.example, https://www.shop.example or 10.0.0.5:8080' },
    ),
  ),
);
const rolesSchema = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value),
  z.array(z.enum(roles)).nonempty(),
);

const moduleNames = z.preprocess(
  (value) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean)
      : value,
  z
    .array(z.string().regex(/^-?[a-z][a-z-]*$/, { error: 'must be names of modules such as gateway or -gateway' }))
    .nonempty(),
);

/** Every process setting: its environment variable, flag of `tradepost start`, schema with default, and meaning. */
const fields = {
  port: { env: 'PORT', flag: '--port', schema: int(0, 65535).default(8080), about: 'port of the API; 0 takes any' },
  gatewayPort: {
    env: 'GATEWAY_PORT',
    flag: '--gateway-port',
    schema: int(0, 65535).default(8081),
    about: 'port of the LLM gateway; 0 takes any',
  },
  host: { env: 'HOST', flag: '--host', schema: z.string().min(1).default('127.0.0.1'), about: 'address to listen on' },
  data: {
    env: 'TRADEPOST_DATA',
    flag: '--data',
    schema: z.string().min(1).default('.tradepost'),
    about: 'folder of the embedded database and the log',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    flag: '--database-url',
    schema: url('postgres:', 'postgresql:').optional(),
    about: 'PostgreSQL 15 or newer; embedded when absent',
    secret: true,
  },
  databasePool: { env: 'DATABASE_POOL', schema: int(2, 500).default(12), about: 'connections of the API process' },
  redisUrl: {
    env: 'REDIS_URL',
    flag: '--redis-url',
    schema: url('redis:', 'rediss:').optional(),
    about: 'Redis or Valkey shared by several instances; in-process store when absent',
    secret: true,
  },
  limiterRedisUrl: {
    env: 'LIMITER_REDIS_URL',
    schema: redisUrls.optional(),
    about: 'Redis of the rate limiter, or nodes of a cluster, comma-separated; default: REDIS_URL',
    secret: true,
  },
  only: {
    env: 'TRADEPOST_ONLY',
    flag: '--only',
    schema: rolesSchema.default([...roles]),
    about: 'parts to run, comma-separated: api, worker, gateway',
  },
  modules: {
    env: 'TRADEPOST_MODULES',
    schema: moduleNames.optional(),
    about: 'modules to run, comma-separated, or those not to run with a minus before each (-gateway); all when absent',
  },
  seed: {
    env: 'TRADEPOST_SEED',
    flag: '--seed',
    schema: z.enum(['demo', 'none']).default('demo'),
    about: 'what an empty database is filled with on the first start; an external one with nothing unless it says demo',
  },
  production: {
    env: 'NODE_ENV',
    schema: z.preprocess((v) => (typeof v === 'string' ? v === 'production' : v), z.boolean()).default(false),
    show: (production) => (production ? 'production' : ''),
    about: 'NODE_ENV=production refuses demo data and demo accounts',
  },
  publicUrl: {
    env: 'PUBLIC_URL',
    schema: url('http:', 'https:').optional(),
    about: 'address under which clients reach the API, for absolute file URLs',
  },
  publicHosts: {
    env: 'PUBLIC_HOSTS',
    schema: hosts.default([]),
    about:
      'without PUBLIC_URL: hosts, comma-separated, that file URLs are made for when a request names them; https://host where TLS is',
  },
  transport: {
    env: 'TRANSPORT',
    schema: z.enum(['auto', 'uws', 'node']).default('auto'),
    about: 'HTTP transport; auto takes uWebSockets.js where its binary loads and reads headers whole',
  },
  maxBodyBytes: { env: 'MAX_BODY_BYTES', schema: int(1024, 2 ** 30).default(2 ** 20), about: 'largest request body' },
  gatewayMaxBodyBytes: {
    env: 'GATEWAY_MAX_BODY_BYTES',
    schema: int(1024, 2 ** 30).default(8 * 2 ** 20),
    about: 'largest request body of the gateway',
  },
  maxBufferedBytes: {
    env: 'MAX_BUFFERED_BYTES',
    schema: int(1024 * 1024, 2 ** 40).default(64 * 2 ** 20),
    about: 'memory for request bodies that arrive or wait for their handler; at least twice MAX_BODY_BYTES',
  },
  gatewayMaxBufferedBytes: {
    env: 'GATEWAY_MAX_BUFFERED_BYTES',
    schema: int(1024 * 1024, 2 ** 40).default(128 * 2 ** 20),
    about: 'the same for the gateway',
  },
  trustedProxies: {
    env: 'TRUSTED_PROXIES',
    schema: networks.default([]),
    about: 'addresses and networks of reverse proxies, comma-separated; only their X-Forwarded-For is believed',
  },
  tokenHours: { env: 'TOKEN_HOURS', schema: int(1, 24 * 366).default(168), about: 'lifetime of a login token' },
  batchMax: { env: 'BATCH_MAX', schema: int(1, 1000).default(100), about: 'group commit: calls in one transaction' },
  batchesInFlight: {
    env: 'BATCHES_IN_FLIGHT',
    schema: int(1, 100).default(3),
    about: 'group commit: transactions of one use case at once',
  },
  workerConcurrency: {
    env: 'WORKER_CONCURRENCY',
    schema: int(1, 100).default(Math.max(2, availableParallelism())),
    about: 'jobs of one worker at once',
  },
  logLevel: {
    env: 'LOG_LEVEL',
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    about: 'least level that is logged',
  },
  logRequests: {
    env: 'LOG_REQUESTS',
    schema: z.enum(['all', 'slow', 'none']).default('slow'),
    about: 'request lines: all, those over a second, or none',
  },
  shutdownSeconds: {
    env: 'SHUTDOWN_SECONDS',
    schema: int(1, 600).default(15),
    about: 'what a running request or job gets to finish after SIGTERM',
  },
} as const satisfies Record<string, Field>;

type Fields = typeof fields;
export type ConfigKey = keyof Fields;
export type Config = { readonly [K in ConfigKey]: z.output<Fields[K]['schema']> } & {
  /** Shop settings of the file: they win over the table. */
  readonly settings: Readonly<Record<string, unknown>>;
};
export type ConfigSource = 'default' | 'file' | 'environment' | 'command line';
export type LoadedConfig = { config: Config; sources: Readonly<Record<ConfigKey, ConfigSource>>; file: string | null };

/** A configuration that can not be used: each problem names the variable or key. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration can not be used:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

function readFile(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // The parser quotes the text around the fault, which may be a password: only the place is said.
    const place = /\(line \d+ column \d+\)/.exec((error as Error).message)?.[0] ?? '';
    throw new ConfigError([
      `${path}: ${error instanceof SyntaxError ? `is not valid JSON ${place}`.trim() : (error as Error).message}`,
    ]);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError([`${path}: must hold a JSON object`]);
  return value as Record<string, unknown>;
}

/**
 * Command line over environment over file over default; parsed once, frozen. Empty variables count as absent.
 * Throws ConfigError with every problem at once.
 */
export function loadConfig(
  options: {
    flags?: Partial<Record<ConfigKey, unknown>>;
    env?: Readonly<Record<string, string | undefined>>;
    file?: string | undefined;
  } = {},
): LoadedConfig {
  const env = options.env ?? process.env;
  const file = options.file ?? (env.TRADEPOST_CONFIG || null);
  const fromFile = file ? readFile(resolve(file)) : {};
  const values: Record<string, unknown> = {};
  const sources: Record<string, ConfigSource> = {};
  const problems = Object.keys(fromFile)
    .filter((key) => key !== 'settings' && !Object.hasOwn(fields, key))
    .map((key) => `${file}: "${key}" is not a setting`);
  for (const [key, field] of Object.entries(fields) as [ConfigKey, Field][]) {
    const flag = options.flags?.[key];
    const variable = env[field.env] || undefined;
    const [raw, source, name]: [unknown, ConfigSource, string] =
      flag !== undefined
        ? [flag, 'command line', field.flag ?? key]
        : variable !== undefined
          ? [variable, 'environment', field.env]
          : Object.hasOwn(fromFile, key)
            ? [fromFile[key], 'file', `${file}: ${key}`]
            : [undefined, 'default', key];
    const parsed = field.schema.safeParse(raw);
    if (parsed.success) values[key] = Object.freeze(parsed.data);
    // The value itself may be a secret: only the field and the reason are said.
    else problems.push(`${name}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`);
    sources[key] = source;
  }
  // Known passwords go into a database of others only where they are asked for by name.
  if (sources.seed === 'default' && values.databaseUrl !== undefined) values.seed = 'none';
  const settings = z.record(z.string(), z.unknown()).safeParse(fromFile.settings ?? {});
  if (!settings.success) problems.push(`${file}: settings must be an object`);
  if (problems.length > 0) throw new ConfigError(problems);
  values.settings = Object.freeze(settings.data);
  values.data = resolve(String(values.data));
  return { config: Object.freeze(values) as Config, sources: sources as Record<ConfigKey, ConfigSource>, file };
}

function masked(value: unknown): string {
  const text = String(value);
  if (/^rediss?:/.test(text) && text.includes(',')) return text.split(',').map(masked).join(',');
  if (!URL.canParse(text)) return '***';
  const parsed = new URL(text);
  if (parsed.password) parsed.password = '***';
  for (const name of parsed.searchParams.keys()) if (/pass/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.toString();
}

/** Rows for `tradepost config`: secrets masked, and where each value came from. */
export function describeConfig(
  loaded: LoadedConfig,
): { key: ConfigKey; env: string; value: string; source: ConfigSource; about: string }[] {
  return (Object.entries(fields) as [ConfigKey, Field][]).map(([key, field]) => {
    const value = loaded.config[key];
    const shown = value === undefined ? '' : field.secret ? masked(value) : (field.show ?? String)(value);
    return { key, env: field.env, value: shown, source: loaded.sources[key], about: field.about };
  });
}
