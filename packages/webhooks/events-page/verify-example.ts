/** Verifies a request, for the documentation. A test runs it. */
export const verifyExample = `import { createHmac, timingSafeEqual } from 'node:crypto';

/** The event of a request. \`body\` is the text of the body as it arrived. Throws when the shop has not sent it. */
export function verifiedEvent(secret, headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - seconds) < 300)) throw new Error('the timestamp is not within five minutes');
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${seconds}.\${body}\`).digest();
  const isSigned = signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.slice('v1,'.length), 'base64');
    return signature.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) throw new Error('the signature is wrong');
  return JSON.parse(body);
}`;
