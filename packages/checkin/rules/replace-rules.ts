import type { Transaction } from '@tradepost/postgres';
import { checkinErrors } from '../errors.ts';
import { type Rule, replaceRules as storeRules } from './rule-store.ts';

/** Makes these the rules of the shop. Throws the refusal when a day has two rules. */
export async function replaceRules(tx: Transaction, rules: readonly Rule[]): Promise<void> {
  const days = new Set<number>();
  for (const { day } of rules) {
    if (days.has(day)) throw checkinErrors.day_twice({ day });
    days.add(day);
  }
  await storeRules(tx, rules);
}
