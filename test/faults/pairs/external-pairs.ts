import { ledgerDifferences } from '@tradepost/testing/external-shop';
import type { Action, Pair } from '../race.ts';
import { type Buyer, order, payOrCancel, type TestShop } from '../test-shop.ts';
import { type Message, sendCallback, signedCallback } from '../warehouse-callbacks.ts';
import type { WarehouseShop } from '../warehouse-shop.ts';
import { type Answers, codes, openChecks } from './checks.ts';

const pay =
  (buyer: Buyer, id: number): Action =>
  (at) =>
    payOrCancel(at, 'pay', buyer, id);
const cancel =
  (buyer: Buyer, id: number): Action =>
  (at) =>
    payOrCancel(at, 'cancel', buyer, id);
const deliver: Action = async (at) => {
  await at.job('inventory.deliver');
  return undefined;
};
const expire: Action = async (at) => {
  await at.job('orders.expire');
  return undefined;
};

type Placed = { buyer: Buyer; sku: number; id: number; no: string; key: string };
/** The state of the order's reserve when the race starts. */
type StartState = 'placed' | 'accepted' | 'reserved' | 'refused';

async function placeOrder(shop: WarehouseShop, to: StartState): Promise<Placed> {
  const [buyer] = await shop.buyers(1);
  const { sku_ids } = await shop.goods({ stocks: [10] });
  const simulator = shop.warehouse.simulator();
  if (to === 'refused') await simulator.setStock(sku_ids[0]!, 0);
  const { code, data, message } = await order(shop.second, buyer!, sku_ids);
  if (code !== 0) throw new Error(message);
  const placed = {
    buyer: buyer!,
    sku: sku_ids[0]!,
    id: data.id,
    no: data.order_no,
    key: `order:${data.order_no}:reserve`,
  };
  if (to !== 'placed') await deliver(shop.second);
  if (to === 'reserved') await sendCallback(shop.second, signedCallback({ request_id: placed.key }));
  if (to === 'refused') await simulator.setStock(sku_ids[0]!, 10);
  return placed;
}

const callback =
  (placed: Placed, message: Partial<Message>): Action =>
  (at) =>
    sendCallback(at, signedCallback({ request_id: placed.key, ...message }));
const retry =
  (shop: TestShop, { key }: Placed): Action =>
  async (at) => {
    const [task] = await shop.sql<{ id: number }[]>`
      select id from inventory.inventory_integration_tasks where request_id = ${key}`;
    return at.call('POST', `/admin/api/inventory/tasks/${task!.id}/retry`, { token: shop.staff });
  };

/** Delivers tasks and sends their callbacks until no task is open. */
async function finish({ sql, second, warehouse }: WarehouseShop): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    await sql`
      update inventory.inventory_integration_tasks set next_retry_at = now()
      where status = 'pending' and next_retry_at > now()`;
    await second.job('inventory.deliver');
    const accepted = await sql<{ id: number; request_id: string; biz_no: string }[]>`
      select id, request_id, biz_no from inventory.inventory_integration_tasks
      where status = 'processing' and accepted_at is not null`;
    const known = new Set(
      warehouse
        .simulator()
        .ledger()
        .documents.map((document) => document.biz_no),
    );
    for (const { id, request_id, biz_no } of accepted) {
      if (known.has(biz_no)) await sendCallback(second, signedCallback({ request_id }));
      // Without a callback, the deadline passes.
      else await sql`update inventory.inventory_integration_tasks set next_retry_at = now() where id = ${id}`;
    }
    const open = await sql`
      select from inventory.inventory_integration_tasks where status in ('pending', 'processing') limit 1`;
    if (open.length === 0) return;
  }
}

async function stateOf({ sql }: TestShop, id: number) {
  const [row] = await sql`
    select o.status, o.inventory_status as stock, s.status as state,
      (select string_agg(t.action || ' ' || t.status, ', ' order by t.id) from inventory.inventory_integration_tasks t
       where t.biz_type = 'order' and t.biz_no = o.order_no) as tasks
    from orders.orders o join inventory.order_inventory_state s using (order_no) where o.id = ${id}`;
  return { ...row! };
}

type End = { status: number; stock: string; tasks: string };
type Expected = End | ((answers: Answers) => End);

/** Two concurrent actions on one order of an external warehouse. Both ledgers must have the expected end, in either order. */
function ofOrder(
  shop: WarehouseShop,
  name: string,
  from: StartState,
  actions: (placed: Placed) => [Action, Action],
  expected: Expected,
  { bothWays = true, answered }: { bothWays?: boolean; answered?: readonly string[] } = {},
): Pair {
  return {
    name,
    bothWays,
    async setUp() {
      const placed = await placeOrder(shop, from);
      const [first, second] = actions(placed);
      return {
        first,
        second,
        async faults(answers) {
          const checks = openChecks();
          // The status must be right immediately, not only after the next task.
          const between = await stateOf(shop, placed.id);
          checks.equal(`status at the order while its tasks are ${between.tasks}`, between.stock, between.state);
          await finish(shop);
          const answerCodes = codes(answers).join();
          if (answered && !answered.includes(answerCodes)) checks.faults.push(`answers ${answerCodes}`);
          const { status, stock, tasks } = typeof expected === 'function' ? expected(answers) : expected;
          checks.equal(`order ${placed.no} after ${answerCodes}`, await stateOf(shop, placed.id), {
            ...{ status, stock, state: stock, tasks },
          });
          const differences = await ledgerDifferences(shop.sql, shop.warehouse.simulator());
          // Each pair has its own goods. Differences of other pairs are reported there.
          checks.faults.push(
            ...differences.filter((line) => line.includes(placed.no) || line.startsWith(`SKU ${placed.sku}:`)),
          );
          return checks.faults;
        },
      };
    },
  };
}

const confirmed: End = { status: 2, stock: 'confirmed', tasks: 'reserve success, confirm success' };
const released: End = { status: 6, stock: 'released', tasks: 'reserve success, release success' };
const reserved: End = { status: 1, stock: 'reserved', tasks: 'reserve success' };

/** Pairs for a shop in async mode without a worker. The pairs send the callbacks. */
export const externalPairs = (shop: WarehouseShop): readonly Pair[] => [
  ofOrder(
    shop,
    'a payment and the answer to the reserve',
    'placed',
    ({ buyer, id }) => [pay(buyer, id), deliver],
    confirmed,
  ),
  ofOrder(
    shop,
    'a cancellation and the answer to the reserve',
    'placed',
    ({ buyer, id }) => [cancel(buyer, id), deliver],
    released,
  ),
  ofOrder(shop, 'two workers', 'placed', () => [deliver, deliver], reserved, { bothWays: false }),
  ofOrder(
    shop,
    'a payment and the callback of the reserve',
    'accepted',
    (of) => [pay(of.buyer, of.id), callback(of, {})],
    confirmed,
    { answered: ['0,0'] },
  ),
  ofOrder(
    shop,
    'a cancellation and the callback of the reserve',
    'accepted',
    (of) => [cancel(of.buyer, of.id), callback(of, {})],
    released,
    { answered: ['0,0'] },
  ),
  ofOrder(
    shop,
    'a cancellation and a callback with status processing',
    'accepted',
    (of) => [cancel(of.buyer, of.id), callback(of, { status: 'processing' })],
    released,
    { answered: ['0,0'] },
  ),
  ofOrder(
    shop,
    'one callback twice',
    'accepted',
    (of) => {
      const message = { callback_id: `twice-${of.no}` };
      return [callback(of, message), callback(of, message)];
    },
    reserved,
    { bothWays: false, answered: ['0,0'] },
  ),
  ofOrder(
    shop,
    'two callbacks of one task',
    'accepted',
    (of) => [callback(of, {}), callback(of, { status: 'processing' })],
    reserved,
    { answered: ['0,0'] },
  ),
  ofOrder(
    shop,
    'the worker and a callback before the answer',
    'placed',
    (of) => [
      deliver,
      // The warehouse can send a callback only after it received the task.
      async (at) => (shop.warehouse.simulator().seen(of.key) > 0 ? callback(of, {})(at) : undefined),
    ],
    reserved,
  ),
  ofOrder(
    shop,
    'an order that expires and the callback of its reserve',
    'accepted',
    (of) => [
      async (at) => {
        await shop.sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${of.id}`;
        return expire(at);
      },
      callback(of, {}),
    ],
    released,
  ),
  ofOrder(
    shop,
    'a retry and a late callback',
    'refused',
    (of) => [retry(shop, of), callback(of, { status: 'processing' })],
    reserved,
    { answered: ['0,0'] },
  ),
  ofOrder(shop, 'a retry twice', 'refused', (of) => [retry(shop, of), retry(shop, of)], reserved, {
    bothWays: false,
    answered: ['0,409', '409,0'],
  }),
  ofOrder(shop, 'a retry and the worker', 'refused', (of) => [retry(shop, of), deliver], reserved),
  ofOrder(
    shop,
    'a retry and a cancellation',
    'refused',
    (of) => [retry(shop, of), cancel(of.buyer, of.id)],
    ([retry]) => (retry?.code === 0 ? released : { ...released, tasks: 'reserve failed, release success' }),
  ),
  ofOrder(
    shop,
    'a retry and a payment',
    'refused',
    (of) => [retry(shop, of), pay(of.buyer, of.id)],
    // A reserve that the warehouse refused blocks the payment until it is retried.
    ([, paid]) => (paid?.code === 0 ? confirmed : reserved),
  ),
];
