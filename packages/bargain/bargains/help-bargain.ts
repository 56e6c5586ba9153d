import type { Minor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import type { Bargain } from '../bargain.ts';
import { bargainSucceeded, factsOf } from '../bargain-events.ts';
import { bargainErrors } from '../errors.ts';
import { hasHelped, insertHelp, lockBargain } from './bargain-store.ts';
import { nextCut } from './cut.ts';

/** Throws the refusal of a bargain that this shopper cannot help. */
function checkBargain(bargain: Bargain | undefined, userId: number, now: Date): Bargain {
  if (!bargain) throw bargainErrors.bargain_not_found();
  if (bargain.owner_id === userId) throw bargainErrors.own_bargain();
  if (bargain.status === 'success') throw bargainErrors.bargain_succeeded();
  if (bargain.status === 'failed') throw bargainErrors.bargain_failed();
  if (bargain.expire_at <= now) throw bargainErrors.bargain_expired();
  return bargain;
}

/** Helps a bargain, and returns the cut in minor units. Its row is locked: helpers who come at once cut one after the other. */
export async function helpBargain(
  tx: Transaction,
  { bargain_id, user_id }: { bargain_id: number; user_id: number },
  now: Date,
): Promise<Minor> {
  const locked = await lockBargain(tx, bargain_id);
  const helped = await hasHelped(tx, bargain_id, user_id);
  if (helped) throw bargainErrors.already_helped();
  const bargain = checkBargain(locked, user_id, now);
  const cut_amount = nextCut(bargain);
  const cut = await insertHelp(tx, { bargain_id, user_id, cut_amount }, now);
  if (cut.status === 'success') await recordEvents(tx, bargainSucceeded, [factsOf(cut)], now);
  return cut_amount;
}
