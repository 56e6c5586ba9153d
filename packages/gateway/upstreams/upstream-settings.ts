import { type Setting, type Settings, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { modelKey } from '../messages/model-key.ts';

const wholeFrom = (min: number, max: number) =>
  z.int('must be a whole number').min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
const texts = 'must be a text';
const modelName = z
  .string(texts)
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .refine((name) => modelKey(name) !== null, { error: 'must be visible characters other than blanks and slashes' });
const upstreamName = z.string(texts).regex(/^[a-z0-9_-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9, _ and -');
const headerName = z.string(texts).regex(/^[!#$%&'*+\-.^_`|~\dA-Za-z]{1,100}$/, 'is not the name of a header');
const headerValue = z.string(texts).regex(/^[\t\x20-\x7e]{0,4000}$/, 'must be printable ASCII');
/** Headers that the gateway sets itself, or that delimit messages. */
const ownHeaders = new Set(
  'authorization host connection content-length content-type transfer-encoding accept accept-encoding upgrade te trailer keep-alive expect x-tradepost-gateway'.split(
    ' ',
  ),
);

const baseUrl = z.string(texts).superRefine((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if (!URL.canParse(text)) return refuse('must be a URL such as https://api.example.com/v1');
  const { protocol, search, hash, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') refuse('must begin with http:// or https://');
  if (search || hash) refuse('must not have a query or a fragment: paths are appended');
  if (username || password) refuse('must not hold a user or password: give api_key');
});

const apiKey = z
  .string(texts)
  .regex(/^[\x21-\x7e]{0,2000}$/, 'must be printable ASCII without blanks; empty for none')
  .refine((key) => !key.startsWith('env:') || /^env:[A-Za-z_]\w*$/.test(key), {
    error: 'env: must be followed by the name of an environment variable',
  });

/** Largest number of upstreams, and of model names and patterns of one upstream. */
export const maxUpstreams = 200;
export const maxUpstreamModels = 1_000;

/** Names with the same normal form: the later name, the first one, and the index of the later one. */
function sameModels(names: readonly string[]): { name: string; first: string; index: number }[] {
  const seen = new Map<string | null, string>();
  return names.flatMap((name, index) => {
    const key = modelKey(name);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, name);
    return first === undefined ? [] : [{ name, first, index }];
  });
}

const upstreamSchema = z.strictObject({
  name: upstreamName,
  base_url: baseUrl,
  api_key: apiKey.default(''),
  models: z
    .array(modelName, 'must be a list')
    .min(1, 'must name a model or a pattern')
    .max(maxUpstreamModels)
    .superRefine((names, context) => {
      for (const { name, first, index } of sameModels(names))
        context.addIssue({ code: 'custom', path: [index], message: `${name} and ${first} are the same model` });
    })
    .default(['*']),
  priority: wholeFrom(-1000, 1000).default(0),
  enabled: z.boolean('must be true or false').default(true),
  connect_timeout_ms: wholeFrom(10, 60_000).default(5_000),
  first_byte_timeout_ms: wholeFrom(10, 3_600_000).default(120_000),
  idle_timeout_ms: wholeFrom(10, 3_600_000).default(60_000),
  max_attempts: wholeFrom(1, 5).default(1),
  headers: z
    .record(headerName, headerValue, 'must be an object')
    .refine((headers) => Object.keys(headers).every((name) => !ownHeaders.has(name.toLowerCase())), {
      error: `must not hold ${[...ownHeaders].join(', ')}`,
    })
    .default({}),
});

const upstreamsSchema = z
  .array(upstreamSchema, 'must be a list')
  .max(maxUpstreams, `must be at most ${maxUpstreams}`)
  .superRefine((upstreams, context) => {
    const seen = new Set<string>();
    upstreams.forEach(({ name }, index) => {
      if (seen.has(name))
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `${name} is there twice` });
      seen.add(name);
    });
  });

/** The same largest limit as in `ratelimit.*`. */
const limit = wholeFrom(0, 1_000_000_000_000);

const modelSchema = z.strictObject({
  upstreams: z.array(upstreamName, 'must be a list').min(1, 'must name an upstream').max(200).optional(),
  model: modelName.optional(),
  max_output_tokens: wholeFrom(1, 2 ** 31 - 1).optional(),
  rpm_limit: limit.optional(),
  tpm_limit: limit.optional(),
  hidden: z.boolean('must be true or false').default(false),
});

const modelsSchema = z
  .record(modelName, modelSchema, 'must be an object by model name')
  .refine((models) => Object.keys(models).length <= 5000, { error: 'must be at most 5000 models' })
  .superRefine((models, context) => {
    for (const { name, first } of sameModels(Object.keys(models)))
      context.addIssue({ code: 'custom', path: [name], message: `${name} and ${first} are the same model` });
  });

export type UpstreamConfig = z.output<typeof upstreamSchema>;
export type ModelConfig = z.output<typeof modelSchema>;

const pathText = (path: readonly PropertyKey[]) =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('');

/** Adds the path of the field to the messages of a schema, because a refused setting shows messages without paths. */
function withPaths<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return z.unknown().transform((value, context) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues)
      context.addIssue({ code: 'custom', message: path.length > 0 ? `${pathText(path)}: ${message}` : message });
    return z.NEVER;
  });
}

export const upstreamSettings = {
  upstreams: setting<readonly UpstreamConfig[]>(
    'gateway.upstreams',
    withPaths(upstreamsSchema),
    [],
    'LLM services that the gateway forwards to: a list of { name, base_url, api_key, models, priority, ... }',
    { secret: true },
  ),
  models: setting<Readonly<Record<string, ModelConfig>>>(
    'gateway.models',
    withPaths(modelsSchema),
    {},
    'models by public name: { upstreams, model (name at the upstream), max_output_tokens, rpm_limit, tpm_limit, hidden }',
  ),
  default_max_output_tokens: setting(
    'gateway.default_max_output_tokens',
    wholeFrom(1, 2 ** 31 - 1),
    1024,
    'output tokens that a request without max_tokens is charged; max_output_tokens of gateway.models is the same for one model',
  ),
  retry_attempts: setting(
    'gateway.retry_attempts',
    wholeFrom(1, 20),
    3,
    'largest number of attempts of one request, over all upstreams',
  ),
} as const;

/** The settings of the proxy. */
export const proxySettings = Object.values(upstreamSettings) as readonly Setting[];

type ConfiguredModel = { readonly name: string; readonly config: ModelConfig };
type Models = Readonly<Record<string, ModelConfig>>;
/** By the object of the setting, so that the map is built once for each change. */
const byKey = new WeakMap<Models, ReadonlyMap<string, ConfiguredModel>>();

/** The configured models by the normal form of their names. */
export function configuredModels(models: Models): ReadonlyMap<string, ConfiguredModel> {
  let known = byKey.get(models);
  if (!known) {
    known = new Map(Object.entries(models).map(([name, config]) => [modelKey(name)!, { name, config }]));
    byKey.set(models, known);
  }
  return known;
}

/** The limits of one model, by the normal form of its name; null inherits `ratelimit.model_default_*`. */
export function modelLimits(
  settings: Pick<Settings, 'get'>,
  key: string,
): { readonly rpm: number | null; readonly tpm: number | null } {
  const config = configuredModels(settings.get(upstreamSettings.models)).get(key)?.config;
  return config?.rpm_limit === undefined && config?.tpm_limit === undefined
    ? unlimited
    : { rpm: config.rpm_limit ?? null, tpm: config.tpm_limit ?? null };
}
const unlimited = { rpm: null, tpm: null } as const;
