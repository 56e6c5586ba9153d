import { describe, expect, test } from 'vitest';
import { externalSignature, type SignedParts, signatureFits } from './signature.ts';

const secret = 'demo-secret';
const parts: SignedParts = {
  app_key: 'demo-key',
  timestamp: '1717910400',
  nonce: 'nonce-1',
  body: '{"biz_no":"O1001"}',
};
const sign = 'e7593e961fe2c512caee1919359e5eee2c85003beded98875e35dd203fc8b625';

test('the signature equals that of existing warehouses', () => {
  expect(externalSignature(parts, secret)).toBe(sign);
});

test('the bytes of a body that is not ASCII are signed as UTF-8', () => {
  // printf 'k\n1\nn\n{"reason":"取消"}\ns' | sha256sum
  expect(externalSignature({ app_key: 'k', timestamp: '1', nonce: 'n', body: '{"reason":"取消"}' }, 's')).toBe(
    '4a0bc109d2a076c72079c6d06729396766de4e87472bd72bd22c6c0535f5bd85',
  );
});

describe('a callback', () => {
  test.each([
    ['lower case', sign],
    ['upper case', sign.toUpperCase()],
  ])('signed in %s is accepted', (_name, given) => {
    expect(signatureFits(parts, secret, given)).toBe(true);
  });

  test.each<[string, Partial<SignedParts>]>([
    ['another app key', { app_key: 'demo-kez' }],
    ['another time', { timestamp: '1717910401' }],
    ['another nonce', { nonce: 'nonce-2' }],
    ['another body', { body: '{"biz_no":"O1002"}' }],
    ['one more space in the body', { body: '{"biz_no": "O1001"}' }],
    ['parts that changed places', { nonce: '1717910400', timestamp: 'nonce-1' }],
  ])('with %s is refused', (_name, altered) => {
    expect(signatureFits({ ...parts, ...altered }, secret, sign)).toBe(false);
  });

  test.each([
    ['of another secret', externalSignature(parts, 'demo-secreu')],
    ['with one letter changed', `f${sign.slice(1)}`],
    ['cut short', sign.slice(0, 63)],
    ['too long', `${sign}0`],
    ['that is empty', ''],
    ['of letters that are no ASCII', 'é'.repeat(64)],
    ['of letters that Latin-1 would fold', `${String.fromCharCode(0x100 + sign.charCodeAt(0))}${sign.slice(1)}`],
  ])('with a signature %s is refused', (_name, given) => {
    expect(signatureFits(parts, secret, given)).toBe(false);
  });
});
