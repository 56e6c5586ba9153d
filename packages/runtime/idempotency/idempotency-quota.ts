import type { Sql } from '@tradepost/postgres';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { runtimeErrors } from '../errors.ts';
import { setting } from '../settings/setting.ts';
import type { Settings } from '../settings/settings.ts';
import { countKeys, type KeyId, keyExists } from './idempotency-store.ts';

export const keysPerCaller = setting(
  'idempotency.keys_per_caller',
  z.number().int().min(100).max(10_000_000),
  20_000,
  'Idempotency-Keys that one account may have in 24 hours',
);

/** The rows of a caller are counted once per this many claims. Each process may exceed the limit by as many keys. */
export const keysBetweenCounts = 256;
/** A caller over the limit is counted again after this time. */
const recountMs = 10_000;
/** The largest number of callers whose counts a process remembers. */
const maxCallers = 10_000;

type CallerState = { claims: number; fullUntil: number };

/**
 * Limits the keys that one caller has in the table. Most claims cost one lookup in memory: only every 256th claim of a
 * caller counts its rows. Over the limit, new keys are refused and existing keys still get their answers.
 */
export function openKeyQuota(deps: { sql: Sql; settings: Pick<Settings, 'get'> }) {
  const { sql, settings } = deps;
  const callers = new LRUCache<string, CallerState>({ max: maxCallers });

  function stateOf(caller: string): CallerState {
    const known = callers.get(caller);
    if (known) return known;
    const state = { claims: 0, fullUntil: 0 };
    callers.set(caller, state);
    return state;
  }

  async function check({ caller, key }: KeyId, state: CallerState): Promise<void> {
    const max = settings.get(keysPerCaller);
    if (performance.now() >= state.fullUntil) {
      const full = (await countKeys(sql, caller, max)) >= max;
      state.fullUntil = full ? performance.now() + recountMs : 0;
    }
    if (state.fullUntil > 0 && !(await keyExists(sql, { caller, key }))) throw runtimeErrors.too_many_keys({ max });
  }

  /** Refuses a new key over the limit. Returns null when no query is needed, so that most claims do not wait. */
  return (id: KeyId): Promise<void> | null => {
    const state = stateOf(id.caller);
    state.claims += 1;
    return state.fullUntil > 0 || state.claims % keysBetweenCounts === 0 ? check(id, state) : null;
  };
}
