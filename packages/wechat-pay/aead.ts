import { createDecipheriv } from 'node:crypto';

/** What WeChat Pay encrypts with the API v3 key: notices and platform certificates. */
export type Sealed = { ciphertext: string; nonce: string; associated_data?: string | undefined };

const tagBytes = 16;

/** Decrypts AEAD_AES_256_GCM. Throws when the key is another one, or the text was altered. */
export function decryptSealed({ ciphertext, nonce, associated_data = '' }: Sealed, key: string): string {
  const bytes = Buffer.from(ciphertext, 'base64');
  if (bytes.length < tagBytes) throw new Error('the encrypted text is too short');
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), Buffer.from(nonce), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(associated_data));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
}
