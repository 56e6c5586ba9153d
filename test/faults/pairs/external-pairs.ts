import type { Answer } from '@tradepost/testing/client';
import { ledgerDifferences } from '@tradepost/testing/external-shop';
import type { Action, Pair } from './race.ts';
import { type Buyer, order, payOrCancel, type TestShop } from './test-shop.ts';
import { type Message, sendCallback, signedCallback } from './warehouse-callbacks.ts';
import type { WarehouseStage } from './warehouse-stage.ts';

type Answers = [Answer | undefined, Answer | undefined];
const codes = (answers: Answers) => answers.map((answer) => answer?.code ?? null);

/** What is not as it should be, in words. */
function expecting() {
  const faults: string[] = [];
  return {
    faults,
    same(what: string, found: unknown, wanted: unknown) {
      const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
      if (a !== b) faults.push(`${what}: ${a} instead of ${b}`);
    },
  };
}

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
/** How far the reserve of the order has come when the race begins. */
type Begin = 'placed' | 'accepted' | 'reserved' | 'refused';

async function begin(stage: WarehouseStage, to: Begin): Promise<Placed> {
  const [buyer] = await stage.buyers(1);
  const { sku_ids } = await stage.goods({ stocks: [10] });
  const simulator = stage.warehouse.simulator();
  if (to === 'refused') await simulator.setStock(sku_ids[0]!, 0);
  const { code, data, message } = await order(stage.second, buyer!, sku_ids);
  if (code !== 0) throw new Error(message);
  const placed = {
    buyer: buyer!,
    sku: sku_ids[0]!,
    id: data.id,
    no: data.order_no,
    key: `order:${data.order_no}:reserve`,
  };
  if (to !== 'placed') await deliver(stage.second);
  if (to === 'reserved') await sendCallback(stage.second, signedCallback({ request_id: placed.key }));
  if (to === 'refused') await simulator.setStock(sku_ids[0]!, 10);
  return placed;
}

const told =
  (placed: Placed, message: Partial<Message>): Action =>
  (at) =>
    sendCallback(at, signedCallback({ request_id: placed.key, ...message }));
const retried =
  (stage: TestShop, { key }: Placed): Action =>
  async (at) => {
    const [task] = await stage.sql<{ id: number }[]>`
      select id from inventory.inventory_integration_tasks where request_id = ${key}`;
    return at.call('POST', `/admin/api/inventory/tasks/${task!.id}/retry`, { token: stage.staff });
  };

/** Delivers, and calls back what the partner has done, until nothing is open: the end that everything comes to. */
async function finish({ sql, second, warehouse }: WarehouseStage): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
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
      // Nobody will call back; the deadline passes.
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

/** One order of an external warehouse to which two things happen; whatever comes first, it ends so, in both books. */
function ofOrder(
  stage: WarehouseStage,
  name: string,
  from: Begin,
  acts: (placed: Placed) => [Action, Action],
  expected: Expected,
  { bothWays = true, answered }: { bothWays?: boolean; answered?: readonly string[] } = {},
): Pair {
  return {
    name,
    bothWays,
    async setUp() {
      const placed = await begin(stage, from);
      const [first, second] = acts(placed);
      return {
        first,
        second,
        async faults(answers) {
          const should = expecting();
          // Right at once, and not only when the next task sets it right.
          const between = await stateOf(stage, placed.id);
          should.same(`status at the order while its tasks are ${between.tasks}`, between.stock, between.state);
          await finish(stage);
          const said = codes(answers).join();
          if (answered && !answered.includes(said)) should.faults.push(`answers ${said}`);
          const { status, stock, tasks } = typeof expected === 'function' ? expected(answers) : expected;
          should.same(`order ${placed.no} after ${said}`, await stateOf(stage, placed.id), {
            ...{ status, stock, state: stock, tasks },
          });
          const differences = await ledgerDifferences(stage.sql, stage.warehouse.simulator());
          // Each pair has goods of its own: what an earlier one has left is told there.
          should.faults.push(
            ...differences.filter((line) => line.includes(placed.no) || line.startsWith(`SKU ${placed.sku}:`)),
          );
          return should.faults;
        },
      };
    },
  };
}

const confirmed: End = { status: 2, stock: 'confirmed', tasks: 'reserve success, confirm success' };
const released: End = { status: 6, stock: 'released', tasks: 'reserve success, release success' };
const reserved: End = { status: 1, stock: 'reserved', tasks: 'reserve success' };

/** For a shop in async mode with callbacks, which the pairs send themselves, and without a worker. */
export const externalPairs = (stage: WarehouseStage): readonly Pair[] => [
  ofOrder(
    stage,
    'a payment and the answer to the reserve',
    'placed',
    ({ buyer, id }) => [pay(buyer, id), deliver],
    confirmed,
  ),
  ofOrder(
    stage,
    'a cancelling and the answer to the reserve',
    'placed',
    ({ buyer, id }) => [cancel(buyer, id), deliver],
    released,
  ),
  ofOrder(stage, 'two workers', 'placed', () => [deliver, deliver], reserved, { bothWays: false }),
  ofOrder(
    stage,
    'a payment and the callback of the reserve',
    'accepted',
    (of) => [pay(of.buyer, of.id), told(of, {})],
    confirmed,
    { answered: ['0,0'] },
  ),
  ofOrder(
    stage,
    'a cancelling and the callback of the reserve',
    'accepted',
    (of) => [cancel(of.buyer, of.id), told(of, {})],
    released,
    { answered: ['0,0'] },
  ),
  ofOrder(
    stage,
    'a cancelling and a callback that says that it goes on',
    'accepted',
    (of) => [cancel(of.buyer, of.id), told(of, { status: 'processing' })],
    released,
    { answered: ['0,0'] },
  ),
  ofOrder(
    stage,
    'one callback twice',
    'accepted',
    (of) => {
      const message = { callback_id: `twice-${of.no}` };
      return [told(of, message), told(of, message)];
    },
    reserved,
    { bothWays: false, answered: ['0,0'] },
  ),
  ofOrder(
    stage,
    'two callbacks of one task',
    'accepted',
    (of) => [told(of, {}), told(of, { status: 'processing' })],
    reserved,
    { answered: ['0,0'] },
  ),
  ofOrder(
    stage,
    'the worker and a callback that comes before the answer',
    'placed',
    (of) => [
      deliver,
      // Only what the partner was told it can call back about.
      async (at) => (stage.warehouse.simulator().seen(of.key) > 0 ? told(of, {})(at) : undefined),
    ],
    reserved,
  ),
  ofOrder(
    stage,
    'an order that runs out and the callback of its reserve',
    'accepted',
    (of) => [
      async (at) => {
        await stage.sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${of.id}`;
        return expire(at);
      },
      told(of, {}),
    ],
    released,
  ),
  ofOrder(
    stage,
    'a retry and a late callback',
    'refused',
    (of) => [retried(stage, of), told(of, { status: 'processing' })],
    reserved,
    { answered: ['0,0'] },
  ),
  ofOrder(stage, 'a retry twice', 'refused', (of) => [retried(stage, of), retried(stage, of)], reserved, {
    bothWays: false,
    answered: ['0,409', '409,0'],
  }),
  ofOrder(stage, 'a retry and the worker', 'refused', (of) => [retried(stage, of), deliver], reserved),
  ofOrder(
    stage,
    'a retry and a cancelling',
    'refused',
    (of) => [retried(stage, of), cancel(of.buyer, of.id)],
    ([retry]) => (retry?.code === 0 ? released : { ...released, tasks: 'reserve failed, release success' }),
  ),
  ofOrder(
    stage,
    'a retry and a payment',
    'refused',
    (of) => [retried(stage, of), pay(of.buyer, of.id)],
    // What the warehouse has refused can not be paid until it is asked again.
    ([, paid]) => (paid?.code === 0 ? confirmed : reserved),
  ),
];

type Shelved = { buyer: Buyer; sku: number; warehouse: number };
let shelves = 0;
async function shelved(stage: TestShop, qty: number): Promise<Shelved> {
  const [buyer] = await stage.buyers(1);
  const { sku_ids } = await stage.goods({ stocks: [0] });
  shelves += 1;
  const made = await staffCall(stage, 'POST', '/admin/api/wms/warehouses', {
    code: `R${shelves}`,
    name: `Warehouse ${shelves}`,
  })(stage.second);
  const of = { buyer: buyer!, sku: sku_ids[0]!, warehouse: made!.data.id };
  if (qty > 0) await (await completion(stage, of, 'inbound', qty))(stage.second);
  return of;
}
const staffCall =
  (stage: TestShop, method: string, path: string, body?: object): Action =>
  (at) =>
    at.call(method, path, { token: stage.staff, ...(body ? { body } : {}) });

async function shelfOf({ sql }: TestShop, { sku, warehouse }: Shelved) {
  const [row] = await sql`
    select i.qty, i.reserved_qty as held, s.stock, s.reserved_stock as reserved, s.sold
    from inventory.inventory_stock i join catalog.product_skus s on s.id = i.sku_id
    where i.warehouse_id = ${warehouse} and i.sku_id = ${sku}`;
  return { ...row! };
}

/** A draft over the SKU's shelf, and what completes it. */
async function completion(
  stage: TestShop,
  of: Shelved,
  doc_type: 'inbound' | 'outbound',
  qty: number,
): Promise<Action> {
  const body = { warehouse_id: of.warehouse, doc_type, items: [{ sku_id: of.sku, qty }] };
  const { data } = (await staffCall(stage, 'POST', '/admin/api/wms/docs', body)(stage.second)) as Answer;
  return staffCall(stage, 'POST', `/admin/api/wms/docs/${data.id}/complete`);
}
const place =
  ({ buyer, sku }: Shelved): Action =>
  (at) =>
    order(at, buyer, [sku]);
const disable = (stage: TestShop, of: Shelved): Action =>
  staffCall(stage, 'PUT', `/admin/api/wms/warehouses/${of.warehouse}/status`, { status: 0 });

type Shelf = { qty: number; held: number; stock: number; reserved: number; sold: number };
function ofShelf(
  name: string,
  qty: number,
  acts: (stage: TestShop, of: Shelved) => Promise<[Action, Action]>,
  expected: (answers: Answers) => Shelf | string,
  bothWays = true,
): Pair {
  return {
    name,
    bothWays,
    async setUp(stage) {
      const of = await shelved(stage, qty);
      const [first, second] = await acts(stage, of);
      return {
        first,
        second,
        async faults(answers) {
          const should = expecting();
          const wanted = expected(answers);
          if (typeof wanted === 'string') return [wanted];
          should.same(`shelf after ${codes(answers)}`, await shelfOf(stage, of), wanted);
          return should.faults;
        },
      };
    },
  };
}
const placedOn = async (stage: TestShop, of: Shelved): Promise<number> => {
  const { code, data, message } = await order(stage.second, of.buyer, [of.sku]);
  if (code !== 0) throw new Error(message);
  return data.id;
};
const both = (answers: Answers, shelf: Shelf) =>
  codes(answers).join() === '0,0' ? shelf : `answers ${codes(answers)}`;
const shelf = (qty: number, held: number, sold = 0): Shelf => ({ qty, held, stock: qty, reserved: held, sold });
/** What a disabled warehouse has is not for sale. */
const shut = (qty: number, held: number, sold = 0): Shelf => ({ qty, held, stock: 0, reserved: 0, sold });

/** For a shop with warehouses of its own. */
export const shelfPairs: readonly Pair[] = [
  ofShelf(
    'an order and the last piece that goes out',
    1,
    async (stage, of) => [place(of), await completion(stage, of, 'outbound', 1)],
    (answers) => {
      const [placed, out] = codes(answers);
      if ((placed === 0) === (out === 0)) return `answers ${codes(answers)}`;
      return placed === 0 ? shelf(1, 1) : shelf(0, 0);
    },
  ),
  ofShelf(
    'an order and a piece that comes in',
    0,
    async (stage, of) => [place(of), await completion(stage, of, 'inbound', 1)],
    ([placed]) => (placed?.code === 0 ? shelf(1, 1) : shelf(1, 0)),
  ),
  ofShelf(
    'a payment and pieces that go out',
    5,
    async (stage, of) => {
      const id = await placedOn(stage, of);
      return [pay(of.buyer, id), await completion(stage, of, 'outbound', 4)];
    },
    (answers) => both(answers, shelf(0, 0, 1)),
  ),
  ofShelf(
    'a cancelling and pieces that come in',
    5,
    async (stage, of) => {
      const id = await placedOn(stage, of);
      return [cancel(of.buyer, id), await completion(stage, of, 'inbound', 4)];
    },
    (answers) => both(answers, shelf(9, 0)),
  ),
  ofShelf(
    'one document completed twice',
    5,
    async (stage, of) => {
      const complete = await completion(stage, of, 'outbound', 3);
      return [complete, complete];
    },
    (answers) => (codes(answers).includes(0) ? shelf(2, 0) : `answers ${codes(answers)}`),
    false,
  ),
  ofShelf(
    'two documents that take the same pieces',
    5,
    async (stage, of) => [await completion(stage, of, 'outbound', 3), await completion(stage, of, 'outbound', 3)],
    (answers) =>
      answers.filter((answer) => answer?.code === 0).length === 1 ? shelf(2, 0) : `answers ${codes(answers)}`,
    false,
  ),
  ofShelf(
    'an order and its warehouse that is disabled',
    5,
    async (stage, of) => [place(of), disable(stage, of)],
    ([placed, put]) => (put?.code !== 0 ? `status answered ${put?.code}` : shut(5, placed?.code === 0 ? 1 : 0)),
  ),
  ofShelf(
    'a payment and its warehouse that is disabled',
    5,
    async (stage, of) => [pay(of.buyer, await placedOn(stage, of)), disable(stage, of)],
    (answers) => both(answers, shut(4, 0, 1)),
  ),
  ofShelf(
    'a cancelling and its warehouse that is disabled',
    5,
    async (stage, of) => [cancel(of.buyer, await placedOn(stage, of)), disable(stage, of)],
    (answers) => both(answers, shut(5, 0)),
  ),
  ofShelf(
    'two orders of the last piece',
    1,
    async (stage, of) => {
      const [other] = await stage.buyers(1);
      return [place(of), place({ ...of, buyer: other! })];
    },
    (answers) =>
      answers.filter((answer) => answer?.code === 0).length === 1 ? shelf(1, 1) : `answers ${codes(answers)}`,
    false,
  ),
];
