import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import { distributorApproved } from '../distribution-events.ts';
import { distributionErrors } from '../errors.ts';
import { updateStatus } from './distributor-store.ts';

/** Staff approve an application (pending -> active), disable a distributor, or enable one again. The same status is accepted. */
export async function changeStatus(
  tx: Transaction,
  id: number,
  status: 'active' | 'disabled',
  now: Date,
): Promise<null> {
  const found = await updateStatus(tx, id, status, now);
  if (!found) throw distributionErrors.distributor_not_found();
  if (found.is_deleted && status === 'active') throw distributionErrors.account_deleted();
  if (found.before === 'pending' && status === 'active')
    await recordEvents(tx, distributorApproved, [{ distributor_id: id, user_id: found.user_id }], now);
  return null;
}
