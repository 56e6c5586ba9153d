import { expect, test } from 'vitest';
import { secretKey, webhookSecret } from './settings.ts';

/** The message names the rule that a key breaks. */
test.each([
  [secretKey, 'sk_live_x', ['must have at least 8 letters, digits or _ after sk_ or rk_, and nothing else']],
  [secretKey, 'sk_live_12345 78', ['must have at least 8 letters, digits or _ after sk_ or rk_, and nothing else']],
  [secretKey, 'pk_live_12345678', ['must begin with sk_ or rk_']],
  [secretKey, 'rk_live_12345678', []],
  [secretKey, '', []],
  [webhookSecret, 'whsec_1', ['must have at least 8 characters after whsec_, and no blank']],
  [webhookSecret, 'sk_live_12345678', ['must begin with whsec_']],
  [webhookSecret, 'whsec_12345678', []],
])('a key is judged by each rule, %#', ({ schema }, text, faults) => {
  const { error } = schema.safeParse(text);
  expect(error?.issues.map(({ message }) => message) ?? []).toEqual(faults);
});
