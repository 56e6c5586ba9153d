import type { TestData } from '@tradepost/testing/test-data';

/** A message of the first shopper, and a broadcast that she has read. */
const rows = `
  insert into message_centre.messages (id, user_id, message_group, title, content, created_at)
    overriding system value
    values (1, 1, 'system', 'Welcome', 'Hello', now()), (2, 0, 'marketing', 'Sale', 'All mugs', now());
  select setval('message_centre.messages_id_seq', 2);
  insert into message_centre.broadcast_reads (user_id, message_id, read_at) values (1, 2, now());
  insert into message_centre.read_positions (user_id, message_group, up_to_id) values (2, 'marketing', 2);`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['message_centre.receivers', 'of no shopper', `update message_centre.messages set user_id = 99 where id = 1`],
    [
      'message_centre.receivers',
      'of a deleted shopper',
      `update identity.shoppers set deleted_at = now() - interval '2 hours', status = 0 where id = 1`,
    ],
    ['message_centre.reads', 'of a message to one', `update message_centre.broadcast_reads set message_id = 1`],
    ['message_centre.positions', 'after the newest message', `update message_centre.read_positions set up_to_id = 3`],
  ],
  makers: {
    messages: async ({ send, staff, sql, owner }, count) => {
      for (let n = 0; n < count; n += 1)
        await send('POST', '/admin/api/messages/send', staff, {
          user_id: owner.id,
          title: `Note ${n}`,
          content: 'Text',
        });
      const made = await sql<{ id: number }[]>`select id from message_centre.messages order by id desc limit ${count}`;
      return made.map(({ id }) => id);
    },
  },
};
