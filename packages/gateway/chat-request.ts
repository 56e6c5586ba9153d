import { maxCost } from './limits.ts';
import { type ProxyError, proxyErrors } from './openai-errors.ts';

export const endpoints = ['chat/completions', 'completions', 'embeddings', 'responses'] as const;
export type Endpoint = (typeof endpoints)[number];

/** What the gateway wants to know of a request; everything else in it is between client and upstream. */
export type AskedFor = {
  readonly model: string;
  readonly stream: boolean;
  /** Per answer; null where the request names none. 0: there is no output (embeddings). */
  readonly maxOutput: number | null;
  /** Answers asked for, each as long. */
  readonly answers: number;
  /** The field that says how much output there may be, for the refusal of too much. */
  readonly maxField: string;
  /** What is to be tokenized. */
  readonly texts: readonly string[];
  /** Tokens besides: frames of messages, token lists, media. */
  readonly extraTokens: number;
};

/** Documented costs, as a fixed number is all that can be said without decoding the media. */
const imageTokens = 765;
const smallImageTokens = 85;
const audioTokens = 600;
const fileTokens = 1_500;
/** A message is framed by a few tokens, and so is the beginning of the answer. */
const messageTokens = 4;
const answerTokens = 3;

const deepest = 100;
const mostAnswers = 128;
const longestModel = 256;
const unstorable = /\0|\p{Surrogate}/u;

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isRefusal = (value: unknown): value is ProxyError => isObject(value) && 'status' in value;

class TooDeep extends Error {}

/** Media where no part says so. */
const inlineMedia = /^data:[\w.+-]+\/[\w.+-]+;base64,/;

type Counted = { texts: string[]; extra: number };

/** Fields that name things instead of being read by the model. */
const notRead = new Set(['type', 'id', 'call_id', 'tool_call_id', 'status', 'cache_control']);

function countMedia(part: Json): number | null {
  switch (part.type) {
    case 'image_url':
    case 'input_image': {
      const detail = isObject(part.image_url) ? part.image_url.detail : part.detail;
      return detail === 'low' ? smallImageTokens : imageTokens;
    }
    case 'input_audio':
      return audioTokens;
    case 'file':
    case 'input_file':
      return fileTokens;
    default:
      return null;
  }
}

/** All text within a value, whatever its fields are called: what is not known yet is counted, too. */
function collect(value: unknown, into: Counted, depth = 0): void {
  if (typeof value === 'string') {
    if (inlineMedia.test(value)) into.extra += imageTokens;
    else if (value !== '') into.texts.push(value);
  } else if (typeof value === 'object' && value !== null) {
    if (depth > deepest) throw new TooDeep();
    if (Array.isArray(value)) for (const one of value) collect(one, into, depth + 1);
    else {
      const media = countMedia(value as Json);
      if (media !== null) into.extra += media;
      else for (const key in value) if (!notRead.has(key)) collect((value as Json)[key], into, depth + 1);
    }
  }
}

/** Definitions of tools and formats: their field names are read as well. */
function collectDefinitions(value: unknown, into: Counted): void {
  if (typeof value === 'object' && value !== null) into.texts.push(JSON.stringify(value));
}

function countMessages(messages: unknown, into: Counted): void {
  collect(messages, into);
  into.extra += answerTokens + (Array.isArray(messages) ? messages.length * messageTokens : 0);
}

/** A text, texts, a list of tokens, or lists of tokens. */
function countPrompts(prompts: unknown, into: Counted): void {
  for (const one of Array.isArray(prompts) ? prompts : [prompts]) {
    if (typeof one === 'number') into.extra += 1;
    else if (Array.isArray(one)) into.extra += one.length;
    else collect(one, into);
  }
}

function countInput(endpoint: Endpoint, body: Json): Counted {
  const into: Counted = { texts: [], extra: 0 };
  switch (endpoint) {
    case 'chat/completions':
      countMessages(body.messages, into);
      collectDefinitions(body.tools, into);
      collectDefinitions(body.functions, into);
      collectDefinitions(body.response_format, into);
      collect(body.prediction, into);
      break;
    case 'responses':
      countMessages(body.input, into);
      collect(body.instructions, into);
      collect(body.prompt, into);
      collectDefinitions(body.tools, into);
      collectDefinitions(body.text, into);
      break;
    case 'completions':
      countPrompts(body.prompt, into);
      collect(body.suffix, into);
      break;
    case 'embeddings':
      countPrompts(body.input, into);
      break;
  }
  return into;
}

const maxFields: Readonly<Record<Endpoint, readonly string[]>> = {
  'chat/completions': ['max_completion_tokens', 'max_tokens'],
  completions: ['max_tokens'],
  responses: ['max_output_tokens'],
  embeddings: [],
};

/** null where it is not given; absent and null are the same, as for the upstreams. */
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

/** The model a request names, or why that is none. */
function modelOf(body: Json): string | ProxyError {
  const model = Object.hasOwn(body, 'model') ? body.model : undefined;
  if (model === undefined || model === null) return proxyErrors.field('model', 'you must provide a model');
  if (typeof model !== 'string' || model === '' || model.length > longestModel || unstorable.test(model))
    return proxyErrors.field('model', `must be a text of 1 to ${longestModel} characters`);
  return model;
}

/** Reads a parsed body; a refusal names the field. */
export function readRequest(endpoint: Endpoint, body: Json): AskedFor | ProxyError {
  const model = modelOf(body);
  if (typeof model !== 'string') return model;
  const stream = Object.hasOwn(body, 'stream') ? (body.stream ?? false) : false;
  if (typeof stream !== 'boolean') return proxyErrors.field('stream', 'must be true or false');
  const fields = maxFields[endpoint];
  const maxOutput = largest(body, fields, maxCost);
  if (isRefusal(maxOutput)) return maxOutput;
  const counts = endpoint === 'completions' ? ['n', 'best_of'] : endpoint === 'chat/completions' ? ['n'] : [];
  const answers = largest(body, counts, mostAnswers);
  if (isRefusal(answers)) return answers;
  try {
    const { texts, extra } = countInput(endpoint, body);
    const prompts = endpoint === 'completions' && Array.isArray(body.prompt) && typeof body.prompt[0] !== 'number';
    return {
      model,
      stream,
      maxOutput: endpoint === 'embeddings' ? 0 : maxOutput,
      // Each of several prompts is answered.
      answers: (answers ?? 1) * (prompts ? Math.max(1, (body.prompt as unknown[]).length) : 1),
      maxField: fields.find((field) => typeof body[field] === 'number') ?? fields[0] ?? 'input',
      texts,
      extraTokens: extra,
    };
  } catch (error) {
    if (error instanceof TooDeep) return proxyErrors.too_deep();
    throw error;
  }
}
