import { expect, test } from 'vitest';
import { secretsMask } from './mask-secrets.ts';

const secret = 'k/ey+of the$hop';
const base64 = (text: string) => Buffer.from(text).toString('base64');

test.each([
  ['as it is', `wrong key ${secret}!`, 'wrong key ***!'],
  ['for a URL', `?key=${encodeURIComponent(secret)}&a=1`, '?key=***&a=1'],
  ['in hex', Buffer.from(secret).toString('hex'), '***'],
  ['twice', `${secret}${secret}`, '******'],
  ['in part', secret.slice(0, -1), secret.slice(0, -1)],
])('a secret that a service quotes %s is masked', (_how, text, masked) => {
  expect(secretsMask([secret])(text)).toBe(masked);
});

test('a secret in base64 is masked at each offset, also in the alphabet for URLs', () => {
  for (const before of ['', 'a', 'ab', 'user:'])
    for (const text of [
      base64(before + secret),
      base64(before + secret)
        .replaceAll('/', '_')
        .replaceAll('+', '-'),
    ])
      expect(secretsMask([secret])(text), text).toContain('***');
});

test('of several secrets the longest is masked first, and an empty one masks nothing', () => {
  expect(secretsMask(['secret', 'secret-of-a-key', ''])('secret-of-a-key secret')).toBe('*** ***');
  expect(secretsMask([''])('any text')).toBe('any text');
});
