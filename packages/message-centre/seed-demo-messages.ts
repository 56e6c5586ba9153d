import { demoAccounts, selectShopperByLogin } from '@tradepost/identity';
import type { DemoSeed, InboxGroup } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { insertMessages } from './messages/message-store.ts';

type Text = { to: 'all' | 'first shopper'; message_group: InboxGroup; title: string; content: string };

const texts: readonly Text[] = [
  {
    to: 'all',
    message_group: 'system',
    title: 'Welcome to the demo shop',
    content: 'Everything here is an example. Orders are paid without money and shipped by a simulated carrier.',
  },
  {
    to: 'all',
    message_group: 'marketing',
    title: 'New mugs',
    content: 'The enamel mugs are back in stock, in three colours.',
  },
  {
    to: 'first shopper',
    message_group: 'system',
    title: 'Your account is ready',
    content: 'Place an order: messages about its payment and shipment arrive here.',
  },
];

async function writeMessages(tx: Transaction): Promise<Record<string, never>> {
  const shopper = await selectShopperByLogin(tx, demoAccounts[0].username);
  if (!shopper) return {};
  await insertMessages(
    tx,
    texts.map(({ to, ...text }) => ({
      ...text,
      user_id: to === 'all' ? 0 : shopper.id,
      priority: 'normal',
      ...{ template: null, facts: null, event_id: null, staff_id: 0 },
      // The account was created by this transaction: the broadcasts are not older.
      created_at: shopper.created_at,
    })),
  );
  return {};
}

/** Two broadcasts, and a message to the first demo shopper. */
export const messageDemo: DemoSeed = { write: (tx) => writeMessages(tx) };
