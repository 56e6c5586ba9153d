/** A shorter secret is masked only as it is: its other forms would be found in any text. */
const minEncoded = 8;

/** The base64 of a text at each offset within other bytes, without the characters that depend on those bytes. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const whole = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function formsOf(secret: string): string[] {
  if (secret.length < minEncoded) return [secret];
  const hex = Buffer.from(secret).toString('hex');
  return [secret, encodeURIComponent(secret), hex, hex.toUpperCase(), ...base64Forms(secret)];
}

/**
 * Returns a function that replaces these secrets in a text by `***`: as they are, in base64, in hex, and encoded for a URL. For texts of
 * other services, which may quote what the shop has sent. Empty secrets are ignored.
 */
export function secretsMask(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf))];
  if (forms.length === 0) return (text) => text;
  const escaped = forms
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const pattern = new RegExp(escaped.join('|'), 'g');
  return (text) => text.replace(pattern, '***');
}
