import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

/** A key of the key file. Its id is derived from the key, so two keys never share one. */
export type SecretKey = { readonly id: string; readonly key: KeyObject };

const prefix = 'sealed:1:';
const nonceBytes = 12;
const tagBytes = 16;
const form = /^sealed:1:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/;

/** What the cipher authenticates: a value copied to the row of another secret does not open. */
const boundTo = (keyId: string, name: string): Buffer => Buffer.from(`${prefix}${keyId}:${name}`);

/** Encrypts a text: `sealed:1:<key id>:<nonce, ciphertext and tag in base64url>`. */
export function sealText({ id, key }: SecretKey, name: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(boundTo(id, name));
  const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${prefix}${id}:${body.toString('base64url')}`;
}

export const isSealed = (value: unknown): value is string => typeof value === 'string' && form.test(value);

/** The id of the key that sealed a text; null when the text is not sealed. */
export const keyIdOf = (sealed: string): string | null => form.exec(sealed)?.[1] ?? null;

/** Decrypts a sealed text. Throws when the text or the name is not the one that was sealed. */
export function openText({ id, key }: SecretKey, name: string, sealed: string): string {
  const body = Buffer.from(form.exec(sealed)?.[2] ?? '', 'base64url');
  if (body.length < nonceBytes + tagBytes) throw new Error('the sealed text is too short');
  const nonce = body.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(boundTo(id, name))
    .setAuthTag(body.subarray(-tagBytes));
  return Buffer.concat([decipher.update(body.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString('utf8');
}
