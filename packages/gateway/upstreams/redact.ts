import { isObject } from '../messages/count-input.ts';
import { shapeFault } from '../messages/json-shape.ts';
import { resolveKey } from './connect-upstream.ts';
import type { UpstreamConfig } from './upstream-settings.ts';

/** Replaces a secret. */
const redacted = '[redacted]';
/** A shorter key is a placeholder such as EMPTY. Removing it would damage texts and protect nothing. */
const minSecretLength = 8;
/** Parts of a key of this length are removed from error messages. */
const partLength = 8;
/** Shortest beginning or end of a key beside a mask that is removed, as in `sk-***wxyz`. */
const minEndLength = 3;
const mask = /[*\u2022\u2026]+|\.{3,}|x{3,}|X{3,}/g;
/** Headers with such names hold secrets. Others hold versions and names of projects. */
const secretHeader = /auth|key|token|secret|cookie|password|credential|signature/i;

/** Keys and secret header values of all upstreams, disabled ones too. */
export function secretsOf(upstreams: readonly UpstreamConfig[]): string[] {
  const found = new Set<string>();
  for (const { api_key, headers } of upstreams) {
    const values = [resolveKey(api_key) ?? ''];
    // Without a scheme such as `Bearer`.
    for (const [name, value] of Object.entries(headers))
      if (secretHeader.test(name)) values.push(value.trim().replace(/^[A-Za-z]+\s+/, ''));
    for (const value of values) if (value.length >= minSecretLength) found.add(value);
  }
  return [...found];
}

/** The base64 of a secret at each offset within other bytes, without the characters that depend on those bytes. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const whole = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** A secret as JSON writes it. Some writers escape a slash (`\/`). */
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

/** Removes secrets from bytes that arrive in chunks. A possible beginning of a secret is kept until the next chunk. */
export type RedactedStream = {
  /** Returns the bytes that can be sent; the same object when nothing is removed. */
  push(chunk: Uint8Array): Uint8Array;
  /** Returns the kept bytes after the last chunk. */
  end(): Uint8Array;
};

export type Redactor = {
  /** Removes secrets, also encoded ones. For values of headers. */
  value(text: string): string;
  /** Removes secrets, parts of secrets and masked secrets. For error messages. */
  message(text: string): string;
  /** Applies `message` to each text of a body; returns the same object when nothing is removed. */
  errorBody(body: Buffer): Buffer;
  /** For bodies in chunks. Removes secrets as they are, and as JSON writes them. */
  stream(): RedactedStream;
};

const empty = Buffer.alloc(0);
const withoutSecrets: Redactor = {
  value: (text) => text,
  message: (text) => text,
  errorBody: (body) => body,
  stream: () => ({ push: (chunk) => chunk, end: () => empty }),
};

/** Secrets as they are in bodies: unchanged, and as JSON writes them. */
class BodySecrets {
  readonly pattern: RegExp;
  readonly #beginnings: ReadonlySet<string>;
  /** Codes of all characters in secrets. Most chunks end with a line feed, which no secret contains. */
  readonly #codes: ReadonlySet<number>;
  readonly #longest: number;

  constructor(forms: readonly string[]) {
    this.pattern = anyOf(forms);
    this.#beginnings = new Set(forms.flatMap((one) => Array.from(one.slice(1), (_, i) => one.slice(0, i + 1))));
    this.#codes = new Set(forms.flatMap((one) => Array.from(one, (character) => character.charCodeAt(0))));
    this.#longest = Math.max(...forms.map(({ length }) => length));
  }

  /** Length of a possible beginning of a secret at the end of a text. */
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
    // One character per byte. Secrets are ASCII, so other bytes do not change.
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

/** Returns a function that finds parts of secrets and masked secrets in a text, as ranges sorted by their start. */
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
        for (let length = minEndLength; length < secret.length; length += 1) {
          if (before.endsWith(secret.slice(0, length))) left = Math.max(left, length);
          if (after.startsWith(secret.slice(-length))) right = Math.max(right, length);
        }
      if (left + right > 0) found.push([from - left, to + right]);
    }
    return found.sort((a, b) => a[0] - b[0]);
  };
}

/** Applies `change` to each text and each name of a JSON value. */
function withTexts(json: unknown, change: (text: string) => string): unknown {
  if (typeof json === 'string') return change(json);
  if (Array.isArray(json)) return json.map((each) => withTexts(each, change));
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([name, held]) => [change(name), withTexts(held, change)]));
}

/** Opens the redactor. `secrets` are printable ASCII of at least eight characters. */
export function openRedactor(secrets: readonly string[]): Redactor {
  if (secrets.length === 0) return withoutSecrets;
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
      // Overlapping and adjacent parts are replaced once.
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
