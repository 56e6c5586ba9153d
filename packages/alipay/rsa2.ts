import { createSign, createVerify, type KeyObject } from 'node:crypto';

export type Fields = Readonly<Record<string, string>>;

/** The text that a signature covers: all fields with a value, by name. */
const signedText = (fields: Fields, without: readonly string[]): string =>
  Object.keys(fields)
    .filter((name) => fields[name] !== '' && !without.includes(name))
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&');

/** The fields of a request with their signature. */
export const signFields = (fields: Fields, key: KeyObject): Record<string, string> => ({
  ...fields,
  sign: createSign('RSA-SHA256')
    .update(signedText(fields, ['sign']))
    .sign(key, 'base64'),
});

export const isTextSigned = (text: string, sign: string, key: KeyObject): boolean =>
  createVerify('RSA-SHA256').update(text).verify(key, sign, 'base64');

/** Whether Alipay signed a notice. Its signature does not cover `sign_type`. */
export const isNoticeSigned = (fields: Fields, key: KeyObject): boolean =>
  isTextSigned(signedText(fields, ['sign', 'sign_type']), fields.sign ?? '', key);

/**
 * The text of the value of a key at the top of a JSON object, as it was sent. The signature of an answer covers this text, and
 * parsing and printing it again can change it. Null when there is no such key.
 */
export function rawValue(json: string, key: string): string | null {
  const start = json.indexOf(`"${key}":`);
  if (start < 0) return null;
  const begin = json.indexOf('{', start);
  if (begin < 0) return null;
  let depth = 0;
  let quoted = false;
  for (let at = begin; at < json.length; at += 1) {
    const c = json[at];
    if (quoted) {
      if (c === '\\') at += 1;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === '{') depth += 1;
    else if (c === '}') {
      depth -= 1;
      if (depth === 0) return json.slice(begin, at + 1);
    }
  }
  return null;
}
