import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** A signed request as a server sees it. Header names are in lower case. */
export type SignedRequest = {
  method: string;
  /** The path as sent, with its query. */
  path: string;
  headers: Readonly<Record<string, string | undefined>>;
};

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
/** The query as it is signed: encoded again, and sorted. */
const canonicalQuery = (query: string) =>
  [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * Checks an AWS Signature Version 4 in the Authorization header. Returns the S3 error code of the fault, or null. Written from the specification and not from the client, so that both cannot have the same fault.
 */
export function signatureFault(
  { method, path, headers }: SignedRequest,
  keys: { id: string; secret: string },
): 'AccessDenied' | 'InvalidAccessKeyId' | 'SignatureDoesNotMatch' | null {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, id, day = '', region = '', names = '', signature = ''] = form.exec(headers.authorization ?? '') ?? [];
  if (!id) return 'AccessDenied';
  if (id !== keys.id) return 'InvalidAccessKeyId';
  const signed = names.split(';');
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name))) return 'AccessDenied';
  const canonical = [
    ...[method, path.split('?')[0], canonicalQuery(path.split('?')[1] ?? '')],
    ...signed.map((name) => `${name}:${(headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}`),
    ...['', names, headers['x-amz-content-sha256']],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${keys.secret}`, day));
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch';
}
