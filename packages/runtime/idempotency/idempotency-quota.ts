import type { Sql } from '@tradepost/postgres';
import { z } from 'zod';
import { runtimeErrors } from '../errors.ts';
import { type Settings, setting } from '../settings/settings.ts';
import { countKeys, type KeyId, keyExists } from './idempotency-store.ts';

export const keysPerCaller = setting(
  'idempotency.keys_per_caller',
  z.number().int().min(100).max(10_000_000),
  20_000,
  'Idempotency-Keys that one account may have in 24 hours',
);

/** New keys of a caller between two counts in the database: by so many per process the limit may be exceeded. */
export const keysBetweenCounts = 256;
/** A caller over the limit is counted again after this time. */
const recountMs = 10_000;
/** Callers with counted keys; the one counted longest ago is forgotten first. */
const maxCallers = 10_000;

type Counted = { claims: number; fullUntil: number };

/**
 * Bounds the keys that one caller keeps in the table. Most claims cost a look into a map: only each 256th of a caller
 * counts its rows. Over the limit new keys are refused, and kept ones still answer.
 */
export function openKeyQuota(deps: { sql: Sql; settings: Pick<Settings, 'get'> }) {
  const { sql, settings } = deps;
  const callers = new Map<string, Counted>();

  function countedOf(caller: string): Counted {
    let counted = callers.get(caller);
    if (!counted) {
      counted = { claims: 0, fullUntil: 0 };
      callers.set(caller, counted);
      const [oldest] = callers.keys();
      if (callers.size > maxCallers) callers.delete(oldest!);
    }
    return counted;
  }

  async function check({ caller, key }: KeyId, counted: Counted): Promise<void> {
    const max = settings.get(keysPerCaller);
    if (performance.now() >= counted.fullUntil) {
      const full = (await countKeys(sql, caller, max)) >= max;
      counted.fullUntil = full ? performance.now() + recountMs : 0;
    }
    if (counted.fullUntil > 0 && !(await keyExists(sql, { caller, key }))) throw runtimeErrors.too_many_keys({ max });
  }

  /** Refuses a new key over the limit. Null where nothing has to be asked, so that the usual claim waits for nothing. */
  return (of: KeyId): Promise<void> | null => {
    const counted = countedOf(of.caller);
    counted.claims += 1;
    return counted.fullUntil > 0 || counted.claims % keysBetweenCounts === 0 ? check(of, counted) : null;
  };
}
