import { shopperDeleted } from '@tradepost/identity';
import type { EventReader } from '@tradepost/runtime';
import { deleteInboxes } from './message-store.ts';

/** Deletes the messages and marks of shoppers who deleted their accounts. Later events write nothing for them. */
export const deletionReader: EventReader = {
  name: 'message_centre.deletion',
  kinds: [shopperDeleted.name],
  async read(tx, events) {
    const ids = events.map(({ data }) => shopperDeleted.data.parse(data).user_id);
    await deleteInboxes(tx, ids);
  },
};
