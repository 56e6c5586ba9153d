import { isObject } from '../messages/count-input.ts';
import { shapeFault } from '../messages/json-shape.ts';
import { resolveKey } from './connect-upstream.ts';
import type { UpstreamConfig } from './upstream-settings.ts';

/** What stands where a secret was. */
const redacted = '[redacted]';
/** A shorter key is a placeholder such as EMPTY: removing it would spoil texts and keep nothing secret. */
const shortestSecret = 8;
/** So many characters in a row of a key are removed from error messages. */
const partLength = 8;
/** Beginning or end of a key beside a mask, as in `sk-***wxyz`. */
const shortestEnd = 3;
const mask = /[*\u2022\u2026]+|\.{3,}|x{3,}|X{3,}/g;
/** A header whose name says so holds a secret; others hold versions and names of projects. */
const secretHeader = /auth|key|token|secret|cookie|password|credential|signature/i;

/** Keys and secret header values of all upstreams, disabled ones too. */
export function secretsOf(upstreams: readonly UpstreamConfig[]): string[] {
  const found = new Set<string>();
  for (const { api_key, headers } of upstreams) {
    const values = [resolveKey(api_key) ?? ''];
    // Without the scheme before it: `Bearer sk-...`.
    for (const [name, value] of Object.entries(headers))
      if (secretHeader.test(name)) values.push(value.trim().replace(/^[A-Za-z]+\s+/, ''));
    for (const value of values) if (value.length >= shortestSecret) found.add(value);
  }
  return [...found];
}

/** Base64 of a secret wherever it stands among other bytes: the characters that depend on it alone. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const whole = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** As it is written in JSON; some write a slash as `\/`. */
const jsonForms = (secret: string): string[] => {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, escaped.replaceAll('/', '\\/')];
};

const anyOf = (texts: readonly string[]): RegExp =>
  new RegExp(
    [...new Set(texts)]
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
      .join('|'),
    'g',
  );

/** Removes secrets from bytes that come in pieces. What may be the beginning of one is kept until the next piece. */
export type RedactedStream = {
  /** Answers the bytes that can go on; the same ones where nothing is removed. */
  push(chunk: Uint8Array): Uint8Array;
  /** What was kept, when no more pieces come. */
  end(): Uint8Array;
};

export type Redactor = {
  /** Without secrets, whole or encoded: for values of headers. */
  value(text: string): string;
  /** The same, and without parts of secrets and masked ones: for messages of errors. */
  message(text: string): string;
  /** A body with `message` applied to each text in it; the same one where nothing is removed. */
  errorBody(body: Buffer): Buffer;
  /** For bodies in pieces: secrets as they are, and as JSON writes them. */
  stream(): RedactedStream;
};

const empty = Buffer.alloc(0);
const keepsAll: Redactor = {
  value: (text) => text,
  message: (text) => text,
  errorBody: (body) => body,
  stream: () => ({ push: (chunk) => chunk, end: () => empty }),
};

/** Secrets as bodies have them: as they are, and as JSON writes them. */
class BodySecrets {
  readonly pattern: RegExp;
  readonly #beginnings: ReadonlySet<string>;
  /** Codes of all characters in secrets. Most pieces end in a line feed, which no secret contains. */
  readonly #codes: ReadonlySet<number>;
  readonly #longest: number;

  constructor(forms: readonly string[]) {
    this.pattern = anyOf(forms);
    this.#beginnings = new Set(forms.flatMap((one) => Array.from(one.slice(1), (_, i) => one.slice(0, i + 1))));
    this.#codes = new Set(forms.flatMap((one) => Array.from(one, (character) => character.charCodeAt(0))));
    this.#longest = Math.max(...forms.map(({ length }) => length));
  }

  /** The length of what may be the beginning of a secret at the end of a text. */
  keptLength(text: string): number {
    if (!this.#codes.has(text.charCodeAt(text.length - 1))) return 0;
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length -= 1)
      if (this.#beginnings.has(text.slice(text.length - length))) return length;
    return 0;
  }
}

class SecretFilter implements RedactedStream {
  readonly #secrets: BodySecrets;
  #kept: Buffer = empty;

  constructor(secrets: BodySecrets) {
    this.#secrets = secrets;
  }

  push(chunk: Uint8Array): Uint8Array {
    const bytes =
      this.#kept.length > 0
        ? Buffer.concat([this.#kept, chunk])
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    // One character per byte: secrets are ASCII, and so nothing else is touched.
    const text = bytes.toString('latin1');
    const clean = text.replace(this.#secrets.pattern, redacted);
    const length = this.#secrets.keptLength(clean);
    const result = clean === text ? bytes : Buffer.from(clean, 'latin1');
    this.#kept = result.subarray(result.length - length);
    return length === 0 ? result : result.subarray(0, result.length - length);
  }

  end(): Uint8Array {
    const rest = this.#kept;
    this.#kept = empty;
    return rest;
  }
}

/** Finds parts of secrets, and secrets that are masked. Answers the function that gives from and to of each in a text. */
function partsOf(secrets: readonly string[]): (text: string) => [from: number, to: number][] {
  const parts = new Set(
    secrets.flatMap((one) =>
      Array.from({ length: one.length - partLength + 1 }, (_, i) => one.slice(i, i + partLength)),
    ),
  );
  return (text) => {
    const found: [number, number][] = [];
    for (let i = 0; i + partLength <= text.length; i += 1)
      if (parts.has(text.slice(i, i + partLength))) found.push([i, i + partLength]);
    for (const match of text.matchAll(mask)) {
      const from = match.index;
      const to = from + match[0].length;
      const [before, after] = [text.slice(0, from), text.slice(to)];
      let [left, right] = [0, 0];
      for (const secret of secrets)
        for (let length = shortestEnd; length < secret.length; length += 1) {
          if (before.endsWith(secret.slice(0, length))) left = Math.max(left, length);
          if (after.startsWith(secret.slice(-length))) right = Math.max(right, length);
        }
      if (left + right > 0) found.push([from - left, to + right]);
    }
    return found.sort((a, b) => a[0] - b[0]);
  };
}

/** A JSON value with `change` applied to each text in it, names included. */
function withTexts(json: unknown, change: (text: string) => string): unknown {
  if (typeof json === 'string') return change(json);
  if (Array.isArray(json)) return json.map((each) => withTexts(each, change));
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([name, held]) => [change(name), withTexts(held, change)]));
}

/** `secrets`: printable ASCII, each of eight characters at least. */
export function openRedactor(secrets: readonly string[]): Redactor {
  if (secrets.length === 0) return keepsAll;
  const forms = secrets.flatMap(jsonForms);
  const inBodies = new BodySecrets(forms);
  const encoded = anyOf([...forms, ...secrets.flatMap((one) => [encodeURIComponent(one), ...base64Forms(one)])]);
  const partsIn = partsOf(secrets);

  const value = (text: string): string => text.replace(encoded, redacted);
  const message = (given: string): string => {
    const text = value(given);
    let result = '';
    let copied = 0;
    let removedTo = -1;
    for (const [from, to] of partsIn(text)) {
      // Parts that overlap or touch are one.
      if (from > removedTo) result += text.slice(copied, from) + redacted;
      removedTo = Math.max(removedTo, to);
      copied = removedTo;
    }
    return result + text.slice(copied);
  };

  return {
    value,
    message,
    errorBody(body) {
      const text = body.toString('utf8');
      let clean = text;
      try {
        const json: unknown = shapeFault(body) ? null : JSON.parse(text);
        const after = JSON.stringify(withTexts(json, message));
        if (after !== JSON.stringify(json)) clean = after;
        else if (json === null) clean = message(text);
      } catch {
        clean = message(text);
      }
      return clean === text ? body : Buffer.from(clean);
    },
    stream: () => new SecretFilter(inBodies),
  };
}
