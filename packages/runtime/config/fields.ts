import { availableParallelism } from 'node:os';
import { z } from 'zod';
import {
  headerList,
  hosts,
  int,
  moduleNames,
  namesOf,
  networks,
  onOff,
  optionalPort,
  publicAddress,
  redisUrls,
  share,
  url,
} from './schemas.ts';

/** The parts of the server. `--only` chooses among them. */
export const roles = ['api', 'worker', 'gateway'] as const;
export type Role = (typeof roles)[number];

export type Field = {
  env: string;
  schema: z.ZodType;
  about: string;
  /** The value is masked in every output. */
  secret?: boolean;
  /** How the value is printed, where `String` does not give the text of the variable. */
  show?: (value: unknown) => string;
  flag?: string;
};

const onOffText = (on: unknown) => (on ? 'on' : 'off');

/** The settings of a process: environment variable, flag of `tradepost start`, schema with default, and meaning. */
export const configFields = {
  port: {
    env: 'PORT',
    flag: '--port',
    schema: int(0, 65535).default(8080),
    about: 'port of the API; 0 chooses a free one',
  },
  gatewayPort: {
    env: 'GATEWAY_PORT',
    flag: '--gateway-port',
    schema: int(0, 65535).default(8081),
    about: 'port of the LLM gateway; 0 chooses a free one',
  },
  host: { env: 'HOST', flag: '--host', schema: z.string().min(1).default('127.0.0.1'), about: 'address to listen on' },
  adminPort: {
    env: 'ADMIN_PORT',
    flag: '--admin-port',
    schema: optionalPort.optional(),
    about:
      'port of the admin listener: 0 takes any free one, off none; when absent 8082, or a free one if it is in use',
  },
  adminHost: {
    env: 'ADMIN_HOST',
    schema: z.string().min(1).default('127.0.0.1'),
    about: 'address of the admin listener, which has no log-in: never one that others reach',
  },
  publicMetrics: {
    env: 'PUBLIC_METRICS',
    schema: onOff.default(true),
    show: onOffText,
    about: '/metrics on the ports of the API and the gateway too: on or off; off by default in production',
  },
  publicDocs: {
    env: 'PUBLIC_DOCS',
    schema: onOff.default(true),
    show: onOffText,
    about:
      'the API reference (/docs, /openapi.json, /asyncapi.json) on these ports: on or off; off by default in production',
  },
  data: {
    env: 'TRADEPOST_DATA',
    flag: '--data',
    schema: z.string().min(1).default('.tradepost'),
    about: 'folder of the embedded database and the log',
  },
  secretsKeyFile: {
    env: 'TRADEPOST_SECRETS_KEY_FILE',
    schema: z.string().min(1).optional(),
    about: 'file with the keys of stored secrets; secrets.key in the data folder when absent',
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
    schema: namesOf(roles).default([...roles]),
    about: 'parts to run, comma-separated: api, worker, gateway',
  },
  modules: {
    env: 'TRADEPOST_MODULES',
    schema: moduleNames.optional(),
    about:
      'modules to run, comma-separated, or modules to switch off with a minus before each (-gateway); all when absent',
  },
  seed: {
    env: 'TRADEPOST_SEED',
    flag: '--seed',
    schema: z.enum(['demo', 'none']).default('demo'),
    about: 'data of an empty database at the first start: demo or none; none is the default for an external database',
  },
  production: {
    env: 'NODE_ENV',
    schema: z.preprocess((v) => (typeof v === 'string' ? v === 'production' : v), z.boolean()).default(false),
    show: (production) => (production ? 'production' : ''),
    about: 'NODE_ENV=production refuses demo data and demo accounts',
  },
  publicUrl: {
    env: 'PUBLIC_URL',
    schema: publicAddress.optional(),
    about: 'address under which clients reach the API, for absolute file URLs',
  },
  publicHosts: {
    env: 'PUBLIC_HOSTS',
    schema: hosts.default([]),
    about:
      'without PUBLIC_URL: hosts, comma-separated, that a request may name for its file URLs; https://host for TLS',
  },
  transport: {
    env: 'TRANSPORT',
    schema: z.enum(['auto', 'uws', 'node']).default('auto'),
    about: 'HTTP transport; auto uses uWebSockets.js where its binary loads and reads headers completely',
  },
  maxBodyBytes: { env: 'MAX_BODY_BYTES', schema: int(1024, 2 ** 30).default(2 ** 20), about: 'largest request body' },
  maxUploadBytes: {
    env: 'MAX_UPLOAD_BYTES',
    schema: int(2 ** 20, 2 ** 30).default(50 * 2 ** 20),
    about: 'largest body of an upload, which is not held in memory; MAX_BODY_BYTES does not apply to uploads',
  },
  gatewayMaxBodyBytes: {
    env: 'GATEWAY_MAX_BODY_BYTES',
    schema: int(1024, 2 ** 30).default(8 * 2 ** 20),
    about: 'largest request body of the gateway',
  },
  maxBufferedBytes: {
    env: 'MAX_BUFFERED_BYTES',
    schema: int(1024 * 1024, 2 ** 40).default(64 * 2 ** 20),
    about: 'memory for request bodies that are received or wait for their handler; at least twice MAX_BODY_BYTES',
  },
  gatewayMaxBufferedBytes: {
    env: 'GATEWAY_MAX_BUFFERED_BYTES',
    schema: int(1024 * 1024, 2 ** 40).default(128 * 2 ** 20),
    about: 'the same memory for request bodies of the gateway',
  },
  trustedProxies: {
    env: 'TRUSTED_PROXIES',
    schema: networks.default([]),
    about: 'addresses and networks of reverse proxies, comma-separated; only their X-Forwarded-For is trusted',
  },
  allowedPrivateNetworks: {
    env: 'ALLOWED_PRIVATE_NETWORKS',
    schema: networks.default([]),
    about:
      'private addresses and networks, comma-separated, that requests to URLs entered by staff may reach, such as webhooks',
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
    about: 'lowest level that is logged',
  },
  logRequests: {
    env: 'LOG_REQUESTS',
    schema: z.enum(['all', 'slow', 'none']).default('slow'),
    about: 'requests to log: all, slow (over a second), or none',
  },
  otlpEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    schema: publicAddress.optional(),
    about: 'base URL of a collector that takes traces (OTLP over HTTP); /v1/traces is appended; no export when absent',
  },
  otlpHeaders: {
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    schema: headerList.optional(),
    about: 'headers for the collector, such as its key: name=value,name=value, values percent-encoded',
    secret: true,
  },
  otelServiceName: {
    env: 'OTEL_SERVICE_NAME',
    schema: z.string().min(1).max(100).default('tradepost'),
    about: 'name of the service in exported traces',
  },
  traceRatio: {
    env: 'OTEL_TRACES_SAMPLER_ARG',
    schema: share.default(1),
    about: 'share of the new traces that is exported, 0 to 1; a request with traceparent follows its caller',
  },
  shutdownSeconds: {
    env: 'SHUTDOWN_SECONDS',
    schema: int(1, 600).default(15),
    about: 'seconds that running requests and jobs have to finish after SIGTERM',
  },
  drainSeconds: {
    env: 'DRAIN_SECONDS',
    schema: int(0, 600).default(0),
    about:
      'seconds after SIGTERM in which /ready fails and new connections are still accepted, for a proxy; then SHUTDOWN_SECONDS',
  },
} as const satisfies Record<string, Field>;

type Fields = typeof configFields;
export type ConfigKey = keyof Fields;
export type Config = { readonly [K in ConfigKey]: z.output<Fields[K]['schema']> } & {
  /** Shop settings of the configuration file. They override the values in the database. */
  readonly settings: Readonly<Record<string, unknown>>;
};
export type ConfigSource = 'default' | 'file' | 'environment' | 'command line';
/** A variable of the environment that has no effect, and the one that it probably means, which is not set. */
export type MisspeltVariable = { name: string; meant: string };
export type LoadedConfig = {
  config: Config;
  sources: Readonly<Record<ConfigKey, ConfigSource>>;
  file: string | null;
  misspelt: readonly MisspeltVariable[];
};
