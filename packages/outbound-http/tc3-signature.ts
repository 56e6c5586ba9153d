import { createHash, createHmac } from 'node:crypto';

const algorithm = 'TC3-HMAC-SHA256';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

export type Tc3Request = {
  service: string;
  /** The signed headers, with lower-case names in their order. The client sends them with these values. */
  headers: Readonly<Record<string, string>>;
  body: string;
  seconds: number;
};

/** The header Authorization of a POST to /, with signature version 3 of Tencent Cloud. */
export function tc3Authorization(
  { service, headers, body, seconds }: Tc3Request,
  key: { id: string; secret: string },
): string {
  const date = new Date(seconds * 1000).toISOString().slice(0, 10);
  const scope = `${date}/${service}/tc3_request`;
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers)
    .map(([name, value]) => `${name}:${value.toLowerCase()}\n`)
    .join('');
  const request = ['POST', '/', '', lines, names, sha256(body)].join('\n');
  const signingKey = hmac(hmac(hmac(`TC3${key.secret}`, date), service), 'tc3_request');
  const signature = hmac(signingKey, [algorithm, seconds, scope, sha256(request)].join('\n')).toString('hex');
  return `${algorithm} Credential=${key.id}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}
