import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

/** The bytes of a key. Consoles of services show keys as PEM or as its base64 alone, and form fields lose its line breaks. */
const derOf = (text: string): Buffer =>
  Buffer.from(text.replace(/-----[A-Z0-9 ]+-----/g, '').replace(/\s+/g, ''), 'base64');

function firstOf(attempts: readonly (() => KeyObject)[]): KeyObject | null {
  for (const attempt of attempts) {
    try {
      const key = attempt();
      if (key.asymmetricKeyType === 'rsa') return key;
    } catch {
      // It has another form.
    }
  }
  return null;
}

/** An RSA private key (PKCS #8 or PKCS #1). Null for any other text. */
export function rsaPrivateKey(text: string): KeyObject | null {
  const key = derOf(text);
  return firstOf([
    () => createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key, format: 'der', type: 'pkcs1' }),
  ]);
}

/** An RSA public key, or that of a certificate. Null for any other text. */
export function rsaPublicKey(text: string): KeyObject | null {
  const key = derOf(text);
  return firstOf([
    () => createPublicKey({ key, format: 'der', type: 'spki' }),
    () => createPublicKey({ key, format: 'der', type: 'pkcs1' }),
    () => new X509Certificate(key).publicKey,
  ]);
}
