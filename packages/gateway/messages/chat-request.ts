import { maxCost } from '@tradepost/rate-limiter';
import { type Counted, collect, collectDefinitions, collectMessages, collectPrompts, isObject } from './count-input.ts';
import { fieldNames } from './json-model.ts';
import { shapeFault } from './json-shape.ts';
import { longestModel, modelKey } from './model-key.ts';
import { type ProxyError, proxyErrors } from './openai-errors.ts';

export const endpoints = ['chat/completions', 'completions', 'embeddings', 'responses'] as const;
export type Endpoint = (typeof endpoints)[number];

/** The facts that the gateway reads from a request. Other fields concern only client and upstream. */
export type RequestFacts = {
  /** As the client wrote it. */
  readonly model: string;
  readonly stream: boolean;
  /** Largest output of one answer, in tokens; null when the request names none; 0 for embeddings. */
  readonly maxOutput: number | null;
  /** Number of requested answers. */
  readonly answers: number;
  /** The field that limits the output, for the refusal of a cost that is too high. */
  readonly maxField: string;
  /** Texts to count. Emptied after counting, because they can be megabytes. */
  readonly texts: string[];
  /** Tokens that are not in texts: frames of messages, lists of tokens, media. */
  readonly extraTokens: number;
};

const maxFieldCount = 1_000;
const maxAnswers = 128;
/** Characters of a field name that a refusal repeats. */
const maxNameLength = 256;

type Json = Readonly<Record<string, unknown>>;
const isRefusal = (value: unknown): value is ProxyError => isObject(value) && 'status' in value;

/** Fields that limit the output, of OpenAI and of other servers. The largest value counts. */
const maxOutputFields: Readonly<Record<Endpoint, readonly string[]>> = {
  'chat/completions': ['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'max_new_tokens', 'n_predict'],
  completions: ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens', 'n_predict'],
  responses: ['max_output_tokens', 'max_completion_tokens', 'max_tokens', 'max_new_tokens', 'n_predict'],
  embeddings: [],
};
const answerFields = ['n', 'best_of'];

/** The functions that count fields. A field without one is counted as a definition. */
const counters: Readonly<Record<Endpoint, Readonly<Record<string, (value: unknown, into: Counted) => void>>>> = {
  'chat/completions': { messages: collectMessages, prediction: collect },
  completions: { prompt: collectPrompts, suffix: collect },
  responses: { input: collectMessages, instructions: collect, prompt: collect },
  embeddings: { input: collectPrompts, messages: collectMessages },
};

/** Fields that no model reads. Every other field with a text, a list or an object counts, known or not. */
const unread = new Set(
  (
    'model user metadata stream_options tool_choice function_call parallel_tool_calls logit_bias stop store service_tier ' +
    'reasoning reasoning_effort verbosity modalities audio safety_identifier prompt_cache_key prompt_cache_retention include ' +
    'previous_response_id conversation truncation encoding_format web_search_options context_management'
  ).split(' '),
);

/**
 * The name as a lenient upstream reads it: it ignores case, underscores and hyphens, so `maxTokens` means `max_tokens`.
 */
const folded = (name: string): string => name.toUpperCase().toLowerCase().replace(/[_-]/g, '');
const read = new Set([
  ...['model', 'stream', 'tools', 'functions', 'response_format', 'text', ...answerFields],
  ...endpoints.flatMap((endpoint) => [...maxOutputFields[endpoint], ...Object.keys(counters[endpoint])]),
]);
const known = new Map([...read].map((name) => [folded(name), name]));
const longestKnown = 40;

/** Refuses names that the gateway and an upstream could read differently: repeated names and other spellings. */
function ambiguous(fields: readonly string[]): ProxyError | null {
  if (fields.length > maxFieldCount) return proxyErrors.too_many_fields(maxFieldCount);
  const seen = new Set<string>();
  for (const field of fields) {
    if (seen.has(field)) return proxyErrors.field(field.slice(0, maxNameLength), 'must be there only once');
    seen.add(field);
    if (read.has(field) || field.length > longestKnown) continue;
    const meant = known.get(folded(field));
    if (meant !== undefined) return proxyErrors.field(field, `must be written ${meant}`);
  }
  return null;
}

function countInput(endpoint: Endpoint, body: Json): Counted {
  const into: Counted = { texts: [], extra: 0 };
  const own = counters[endpoint];
  for (const field in body) {
    if (unread.has(field)) continue;
    const count = Object.hasOwn(own, field) ? own[field]! : collectDefinitions;
    count(body[field], into);
  }
  return into;
}

/** A whole number from 1 to `max`; null for an absent field or the value null, as upstreams read it. */
function wholeField(body: Json, field: string, max: number): number | null | ProxyError {
  const value = Object.hasOwn(body, field) ? body[field] : null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max)
    return proxyErrors.field(field, `must be a whole number from 1 to ${max}`);
  return value;
}

function largest(body: Json, fields: readonly string[], max: number): number | null | ProxyError {
  let found: number | null = null;
  for (const field of fields) {
    const value = wholeField(body, field, max);
    if (isRefusal(value)) return value;
    if (value !== null) found = Math.max(found ?? 0, value);
  }
  return found;
}

/** The model that a request names, or the refusal of its name. */
function modelOf(body: Json): string | ProxyError {
  const model = Object.hasOwn(body, 'model') ? body.model : undefined;
  if (model === undefined || model === null) return proxyErrors.field('model', 'you must provide a model');
  if (typeof model !== 'string' || modelKey(model) === null)
    return proxyErrors.field('model', `must be a text of 1 to ${longestModel} visible characters`);
  return model;
}

/** Number of prompts. Each is answered; a list of token numbers is one prompt. */
function promptsOf(endpoint: Endpoint, { prompt }: Json): number {
  if (endpoint !== 'completions' || !Array.isArray(prompt)) return 1;
  return prompt.every((one) => typeof one === 'number') ? 1 : Math.max(1, prompt.length);
}

/** Parses a body. Its shape must have been checked before, because parsing can be expensive. */
export function parseBody(json: Buffer): { readonly body: Json } | ProxyError {
  let body: unknown;
  try {
    body = JSON.parse(json.toString('utf8'));
  } catch {
    return proxyErrors.invalid_json();
  }
  return isObject(body) ? { body } : proxyErrors.not_an_object();
}

/** Reads the facts of a parsed body. `json` is needed for repeated names, which parsing hides. */
export function readBody(endpoint: Endpoint, json: Buffer, body: Json): RequestFacts | ProxyError {
  return ambiguous(fieldNames(json, maxFieldCount + 1)) ?? readFields(endpoint, body);
}

/** Reads a body in one step. `openLargeBodies` reads large bodies. */
export function readRequest(endpoint: Endpoint, bytes: Uint8Array): RequestFacts | ProxyError {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fault = shapeFault(json);
  if (fault) return proxyErrors[fault]();
  const parsed = parseBody(json);
  return 'status' in parsed ? parsed : readBody(endpoint, json, parsed.body);
}

function readFields(endpoint: Endpoint, body: Json): RequestFacts | ProxyError {
  const model = modelOf(body);
  if (typeof model !== 'string') return model;
  const stream = Object.hasOwn(body, 'stream') ? (body.stream ?? false) : false;
  if (typeof stream !== 'boolean') return proxyErrors.field('stream', 'must be true or false');
  const fields = maxOutputFields[endpoint];
  const maxOutput = largest(body, fields, maxCost);
  if (isRefusal(maxOutput)) return maxOutput;
  const answers = endpoint === 'embeddings' ? 1 : largest(body, answerFields, maxAnswers);
  if (isRefusal(answers)) return answers;
  const { texts, extra } = countInput(endpoint, body);
  return {
    model,
    stream,
    maxOutput: endpoint === 'embeddings' ? 0 : maxOutput,
    answers: (answers ?? 1) * promptsOf(endpoint, body),
    maxField: fields.find((field) => typeof body[field] === 'number') ?? fields[0] ?? 'input',
    texts,
    extraTokens: extra,
  };
}
