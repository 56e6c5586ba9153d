import { lockActiveShoppers } from '@tradepost/identity';
import type { Transaction } from '@tradepost/postgres';
import { distributionErrors } from '../errors.ts';
import { hasPaidOrder, insertBinding, selectActive, selectBinding, selectDistributor } from './distributor-store.ts';

/**
 * Binds a shopper to an active distributor, once, before the first paid order. A distributor cannot be a customer, so
 * there are no circles. Repeating it is accepted.
 */
export async function bindShopper(
  tx: Transaction,
  { user_id, distributor_id }: { user_id: number; distributor_id: number },
  now: Date,
): Promise<void> {
  if ((await lockActiveShoppers(tx, [user_id])).size === 0) throw distributionErrors.distributor_not_found();
  const bound = await selectBinding(tx, user_id);
  if (bound === distributor_id) return;
  if (bound !== undefined) throw distributionErrors.already_bound();
  if (await selectDistributor(tx, { user_id })) throw distributionErrors.bind_distributor();
  if (!(await selectActive(tx, distributor_id))) throw distributionErrors.distributor_not_found();
  if (await hasPaidOrder(tx, user_id)) throw distributionErrors.has_paid_order();
  if ((await insertBinding(tx, user_id, distributor_id, now)) !== distributor_id)
    throw distributionErrors.already_bound();
}
