import { shopperDeleted } from '@tradepost/identity';
import type { EventReader, Runtime } from '@tradepost/runtime';
import { eraseEndedAccounts } from '../withdrawals/withdrawal-store.ts';
import { forgetShoppers } from './distributor-store.ts';

/** Distributors who delete their accounts are disabled and lose their personal data. The history of their money stays. */
export const deletionReader = ({ now }: Pick<Runtime, 'now'>): EventReader => ({
  name: 'distribution.deletion',
  kinds: [shopperDeleted.name],
  async read(tx, events) {
    const ids = events.map(({ data }) => shopperDeleted.data.parse(data).user_id);
    await forgetShoppers(tx, ids, now());
    await eraseEndedAccounts(tx, ids);
  },
});
