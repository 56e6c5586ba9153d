import { createHash, createHmac } from 'node:crypto';

const algorithm = 'ACS3-HMAC-SHA256';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** RFC 3986: everything except letters, digits and - _ . ~ is encoded. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** The query of a request, sorted by name, as it is sent and signed. */
export const canonicalQuery = (params: Readonly<Record<string, string>>): string =>
  Object.keys(params)
    .sort()
    .map((name) => `${encode(name)}=${encode(params[name]!)}`)
    .join('&');

export type Acs3Request = {
  host: string;
  action: string;
  version: string;
  query: string;
  nonce: string;
  at: Date;
};

/** The headers of a POST to / without a body, signed with signature version 3 of Alibaba Cloud. `host` is sent by the client. */
export function acs3Headers(
  { host, action, version, query, nonce, at }: Acs3Request,
  key: { id: string; secret: string },
): Record<string, string> {
  const bodyHash = sha256('');
  const headers: Record<string, string> = {
    'x-acs-action': action,
    'x-acs-content-sha256': bodyHash,
    'x-acs-date': at.toISOString().replace(/\.\d+Z$/, 'Z'),
    'x-acs-signature-nonce': nonce,
    'x-acs-version': version,
  };
  // All signed headers in the order of their names.
  const signed = [['host', host] as const, ...Object.entries(headers)];
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('');
  const names = signed.map(([name]) => name).join(';');
  const request = ['POST', '/', query, lines, names, bodyHash].join('\n');
  const signature = createHmac('sha256', key.secret)
    .update(`${algorithm}\n${sha256(request)}`)
    .digest('hex');
  return {
    ...headers,
    authorization: `${algorithm} Credential=${key.id},SignedHeaders=${names},Signature=${signature}`,
  };
}
