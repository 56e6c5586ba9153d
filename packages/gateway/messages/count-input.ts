/** The input of a request: texts, and tokens that are counted without a text. */
export type Counted = { readonly texts: string[]; extra: number };

/** Documented costs. They are fixed numbers, because the media is not decoded. */
const imageTokens = 765;
const smallImageTokens = 85;
const audioTokens = 600;
/** The least cost of a file. A file in the request costs a token per four bytes. */
const fileTokens = 1_500;
const bytesPerToken = 4;
/** Encrypted reasoning of an earlier answer, which only the model's maker can read. */
const encryptedTokens = 1_000;
/** Tokens that frame a message and the beginning of the answer. */
const messageTokens = 4;
const answerTokens = 3;

type Json = Readonly<Record<string, unknown>>;
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields with short identifiers, which no model reads. A longer value counts as text. */
const identifierFields = new Set(['type', 'id', 'call_id', 'tool_call_id', 'status']);
const maxIdentifierLength = 256;
const maxUrlLength = 8_192;
/** A longer field name counts as text. */
const maxFieldLength = 64;

const imageTypes = new Set(['image_url', 'input_image', 'computer_screenshot']);
const mediaTypes = new Set([...imageTypes, 'input_audio', 'file', 'input_file']);
/** Fields of a media part that hold the media, and fields of objects around them. */
const payloads = new Set(['url', 'image_url', 'file_url', 'file_data', 'data']);
const containers = new Set(['image_url', 'input_audio', 'file']);
/** Fields of items that hold bytes which only the upstream reads. */
const opaque: Readonly<Record<string, string>> = {
  image_generation_call: 'result',
  reasoning: 'encrypted_content',
  compaction: 'encrypted_content',
};

const dataUrl = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,/;
const base64 = /^[\w+/-]*={0,2}$/;
const url = /^https?:\/\//i;

/** Length of base64 in a text, with or without a `data:` prefix; null for another text. */
function base64Length(text: string): number | null {
  const from = dataUrl.exec(text)?.[0].length ?? 0;
  return base64.test(from > 0 ? text.slice(from) : text) ? text.length - from : null;
}

function mediaTokens(part: Json): number {
  if (imageTypes.has(part.type as string)) {
    const detail = isObject(part.image_url) ? part.image_url.detail : part.detail;
    return detail === 'low' ? smallImageTokens : imageTokens;
  }
  // The bytes of a file are counted in `collectPayload`.
  return part.type === 'input_audio' ? audioTokens : fileTokens;
}

/** Counts a text in a field for media. A text that is not media counts as any other text. */
function collectPayload(field: string, text: string, into: Counted): void {
  if (url.test(text) && text.length <= maxUrlLength) return;
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
    if (field.length > maxFieldLength) into.texts.push(field);
    if (typeof held !== 'string') {
      // Arguments as an object count as JSON, with the names of their fields.
      if (field === 'arguments') collectDefinitions(held, into);
      else collect(held, into, media && containers.has(field));
    } else if ((media || within) && payloads.has(field)) collectPayload(field, held, into);
    else if (opaque[type] === field && base64Length(held) !== null)
      into.extra += field === 'result' ? imageTokens : encryptedTokens;
    else if (held !== '' && !(identifierFields.has(field) && held.length <= maxIdentifierLength)) into.texts.push(held);
  }
}

/**
 * Collects all texts of a value, in known and unknown fields. Media counts as media only in a part whose type is media,
 * and only in the fields of such a part. `within`: the value is inside a field for media of such a part.
 */
export function collect(value: unknown, into: Counted, within = false): void {
  if (typeof value === 'string') {
    if (value !== '') into.texts.push(value);
  } else if (Array.isArray(value)) for (const one of value) collect(one, into);
  else if (isObject(value)) collectObject(value, into, within);
}

/** Collects definitions of tools and formats, whose field names the model reads as well. */
export function collectDefinitions(value: unknown, into: Counted): void {
  if (typeof value === 'string') collect(value, into);
  else if (typeof value === 'object' && value !== null) into.texts.push(JSON.stringify(value));
}

export function collectMessages(messages: unknown, into: Counted): void {
  collect(messages, into);
  into.extra += answerTokens + (Array.isArray(messages) ? messages.length * messageTokens : 0);
}

/** Collects a text, a list of texts, a list of token numbers, or several such lists. */
export function collectPrompts(prompts: unknown, into: Counted): void {
  for (const one of Array.isArray(prompts) ? prompts : [prompts]) {
    if (typeof one === 'number') into.extra += 1;
    else if (Array.isArray(one)) collectPrompts(one, into);
    else collect(one, into);
  }
}
