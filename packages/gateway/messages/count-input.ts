/** What of a request its model reads. */
export type Counted = { readonly texts: string[]; extra: number };

/** Documented costs, as a fixed number is all that can be said without decoding the media. */
const imageTokens = 765;
const smallImageTokens = 85;
const audioTokens = 600;
/** At the least; of a file that is sent along each of these bytes counts a quarter. */
const fileTokens = 1_500;
const bytesPerToken = 4;
/** What a model has thought before, in a form that only its maker reads. */
const encryptedTokens = 1_000;
/** A message is framed by a few tokens, and so is the beginning of the answer. */
const messageTokens = 4;
const answerTokens = 3;

type Json = Readonly<Record<string, unknown>>;
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Short names of things, which no model reads; what is longer is none. */
const names = new Set(['type', 'id', 'call_id', 'tool_call_id', 'status']);
const longestName = 256;
const longestUrl = 8_192;
/** A name of a field that is longer counts as text. */
const longestField = 64;

const imageTypes = new Set(['image_url', 'input_image', 'computer_screenshot']);
const mediaTypes = new Set([...imageTypes, 'input_audio', 'file', 'input_file']);
/** Within a part that is media: what holds it, and objects around that. */
const payloads = new Set(['url', 'image_url', 'file_url', 'file_data', 'data']);
const containers = new Set(['image_url', 'input_audio', 'file']);
/** Items whose bytes are for the upstream alone. */
const opaque: Readonly<Record<string, string>> = {
  image_generation_call: 'result',
  reasoning: 'encrypted_content',
  compaction: 'encrypted_content',
};

const dataUrl = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,/;
const base64 = /^[\w+/-]*={0,2}$/;
const url = /^https?:\/\//i;

/** Length of the base64 within a text, with or without `data:` before it; null: it is something else. */
function base64Length(text: string): number | null {
  const from = dataUrl.exec(text)?.[0].length ?? 0;
  return base64.test(from > 0 ? text.slice(from) : text) ? text.length - from : null;
}

function mediaTokens(part: Json): number {
  if (imageTypes.has(part.type as string)) {
    const detail = isObject(part.image_url) ? part.image_url.detail : part.detail;
    return detail === 'low' ? smallImageTokens : imageTokens;
  }
  // Of a file the bytes that are there count, below.
  return part.type === 'input_audio' ? audioTokens : fileTokens;
}

/** A text where media is expected: it is that, or it is counted as any other. */
function collectPayload(field: string, text: string, into: Counted): void {
  if (url.test(text) && text.length <= longestUrl) return;
  const length = base64Length(text);
  if (length === null) into.texts.push(text);
  else if (field === 'file_data') into.extra += Math.max(0, Math.ceil((length * 3) / 4 / bytesPerToken) - fileTokens);
}

function collectObject(value: Json, into: Counted, within: boolean): void {
  const type = typeof value.type === 'string' ? value.type : '';
  const media = mediaTypes.has(type);
  if (media) into.extra += mediaTokens(value);
  for (const field in value) {
    const held = value[field];
    if (field.length > longestField) into.texts.push(field);
    if (typeof held !== 'string') {
      // Arguments that are no text yet are made one, names of their fields included.
      if (field === 'arguments') collectDefinitions(held, into);
      else collect(held, into, media && containers.has(field));
    } else if ((media || within) && payloads.has(field)) collectPayload(field, held, into);
    else if (opaque[type] === field && base64Length(held) !== null)
      into.extra += field === 'result' ? imageTokens : encryptedTokens;
    else if (held !== '' && !(names.has(field) && held.length <= longestName)) into.texts.push(held);
  }
}

/**
 * All text within a value, whatever its fields are called: what is not known yet is counted, too. Media is what a part says
 * is media, in the fields where such a part has it. `within`: such a field holds this object.
 */
export function collect(value: unknown, into: Counted, within = false): void {
  if (typeof value === 'string') {
    if (value !== '') into.texts.push(value);
  } else if (Array.isArray(value)) for (const one of value) collect(one, into);
  else if (isObject(value)) collectObject(value, into, within);
}

/** Definitions of tools and formats: their field names are read as well. */
export function collectDefinitions(value: unknown, into: Counted): void {
  if (typeof value === 'string') collect(value, into);
  else if (typeof value === 'object' && value !== null) into.texts.push(JSON.stringify(value));
}

export function collectMessages(messages: unknown, into: Counted): void {
  collect(messages, into);
  into.extra += answerTokens + (Array.isArray(messages) ? messages.length * messageTokens : 0);
}

/** A text, texts, a list of tokens, or lists of tokens. */
export function collectPrompts(prompts: unknown, into: Counted): void {
  for (const one of Array.isArray(prompts) ? prompts : [prompts]) {
    if (typeof one === 'number') into.extra += 1;
    else if (Array.isArray(one)) collectPrompts(one, into);
    else collect(one, into);
  }
}
