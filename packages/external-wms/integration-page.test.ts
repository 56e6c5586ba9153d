import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { externalSignature } from './protocol/signature.ts';

const page = readFileSync(join(import.meta.dirname, 'INTEGRATION.md'), 'utf8');
const secret = 'demo-secret';

test('the example request and callback of INTEGRATION.md have the right signatures', () => {
  const request = /```http\n([\s\S]*?)\n\n([\s\S]*?)\n```/.exec(page)!;
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(request[1]!)![1]!;
  const parts = { app_key: header('X-App-Key'), timestamp: header('X-Timestamp'), nonce: header('X-Nonce') };
  expect(externalSignature({ ...parts, body: request[2]! }, secret)).toBe(header('X-Sign'));
  expect(JSON.parse(request[2]!).request_id).toBe(header('Idempotency-Key'));

  const callback = JSON.parse(/```json\n([\s\S]*?)\n```/.exec(page)![1]!);
  expect(externalSignature(callback, secret)).toBe(callback.sign);
  expect(JSON.parse(callback.body).status).toBe('success');
});
