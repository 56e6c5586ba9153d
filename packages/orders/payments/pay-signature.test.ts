import { expect, test } from 'vitest';
import { isPaySignature, paySignature } from './pay-signature.ts';

/** The example in README.md, with which authors of a bridge can check their implementation. */
const secret = 'demo-secret-of-the-shop';
const message = {
  timestamp: '1772328600',
  nonce: 'b6f0c1d2e3a4958677',
  body: '{"provider":"sandbox","payment_no":"PAY17723286000000123456789","trade_no":"SBX20260301000001","amount":12.90,"currency":"CNY","status":"succeeded"}',
};
const signature = 'ac0f175ce3035d2fb339007d1378d7013d02dc8a1108be184f3a0adac8ee8170';

test('the example in the README has its signature', () => {
  expect(paySignature(secret, message)).toBe(signature);
  expect(paySignature(secret, { ...message, body: Buffer.from(message.body) })).toBe(signature);
});

test('only the complete signature of the complete message is accepted, in upper or lower case', () => {
  expect(isPaySignature(secret, message, signature)).toBe(true);
  expect(isPaySignature(secret, message, signature.toUpperCase())).toBe(true);
  for (const wrong of ['', signature.slice(1), `${signature}0`, signature.replace(/^./, 'g'), '0'.repeat(64)])
    expect(isPaySignature(secret, message, wrong)).toBe(false);
  for (const other of [{ timestamp: '1772328601' }, { nonce: 'b6f0c1d2e3a4958678' }, { body: `${message.body} ` }])
    expect(isPaySignature(secret, { ...message, ...other }, signature)).toBe(false);
  expect(isPaySignature(`${secret}x`, message, signature)).toBe(false);
});
