import type { Answer } from '@tradepost/testing/client';
import type { Action, Pair } from '../race.ts';
import { type Buyer, order, payOrCancel, type TestShop } from '../test-shop.ts';
import { staffCall } from './actions.ts';
import { type Answers, codes, openChecks } from './checks.ts';

const pay =
  (buyer: Buyer, id: number): Action =>
  (at) =>
    payOrCancel(at, 'pay', buyer, id);
const cancel =
  (buyer: Buyer, id: number): Action =>
  (at) =>
    payOrCancel(at, 'cancel', buyer, id);

type ShelfGoods = { buyer: Buyer; sku: number; warehouse: number };
let shelves = 0;
async function createShelf(shop: TestShop, qty: number): Promise<ShelfGoods> {
  const [buyer] = await shop.buyers(1);
  const { sku_ids } = await shop.goods({ stocks: [0] });
  shelves += 1;
  const made = await staffCall(shop, 'POST', '/admin/api/wms/warehouses', {
    code: `R${shelves}`,
    name: `Warehouse ${shelves}`,
  })(shop.second);
  const of = { buyer: buyer!, sku: sku_ids[0]!, warehouse: made!.data.id };
  if (qty > 0) await (await completion(shop, of, 'inbound', qty))(shop.second);
  return of;
}
async function shelfOf({ sql }: TestShop, { sku, warehouse }: ShelfGoods) {
  const [row] = await sql`
    select i.qty, i.reserved_qty as held, s.stock, s.reserved_stock as reserved, s.sold
    from inventory.inventory_stock i join catalog.product_skus s on s.id = i.sku_id
    where i.warehouse_id = ${warehouse} and i.sku_id = ${sku}`;
  return { ...row! };
}

/** Creates a draft document of the SKU. Returns the action that completes it. */
async function completion(
  shop: TestShop,
  of: ShelfGoods,
  doc_type: 'inbound' | 'outbound',
  qty: number,
): Promise<Action> {
  const body = { warehouse_id: of.warehouse, doc_type, items: [{ sku_id: of.sku, qty }] };
  const { data } = (await staffCall(shop, 'POST', '/admin/api/wms/docs', body)(shop.second)) as Answer;
  return staffCall(shop, 'POST', `/admin/api/wms/docs/${data.id}/complete`);
}
const place =
  ({ buyer, sku }: ShelfGoods): Action =>
  (at) =>
    order(at, buyer, [sku]);
const disable = (shop: TestShop, of: ShelfGoods): Action =>
  staffCall(shop, 'PUT', `/admin/api/wms/warehouses/${of.warehouse}/status`, { status: 0 });

type Shelf = { qty: number; held: number; stock: number; reserved: number; sold: number };
function ofShelf(
  name: string,
  qty: number,
  actions: (shop: TestShop, of: ShelfGoods) => Promise<[Action, Action]>,
  expected: (answers: Answers) => Shelf | string,
  bothWays = true,
): Pair {
  return {
    name,
    bothWays,
    async setUp(shop) {
      const of = await createShelf(shop, qty);
      const [first, second] = await actions(shop, of);
      return {
        first,
        second,
        async faults(answers) {
          const checks = openChecks();
          const end = expected(answers);
          if (typeof end === 'string') return [end];
          checks.equal(`shelf after ${codes(answers)}`, await shelfOf(shop, of), end);
          return checks.faults;
        },
      };
    },
  };
}
const placedOn = async (shop: TestShop, of: ShelfGoods): Promise<number> => {
  const { code, data, message } = await order(shop.second, of.buyer, [of.sku]);
  if (code !== 0) throw new Error(message);
  return data.id;
};
const both = (answers: Answers, shelf: Shelf) =>
  codes(answers).join() === '0,0' ? shelf : `answers ${codes(answers)}`;
const shelf = (qty: number, held: number, sold = 0): Shelf => ({ qty, held, stock: qty, reserved: held, sold });
/** The stock of a disabled warehouse is not for sale. */
const disabledShelf = (qty: number, held: number, sold = 0): Shelf => ({ qty, held, stock: 0, reserved: 0, sold });

/** Pairs for a shop with its own warehouses. */
export const shelfPairs: readonly Pair[] = [
  ofShelf(
    'an order and an outbound document for the last piece',
    1,
    async (shop, of) => [place(of), await completion(shop, of, 'outbound', 1)],
    (answers) => {
      const [placed, out] = codes(answers);
      if ((placed === 0) === (out === 0)) return `answers ${codes(answers)}`;
      return placed === 0 ? shelf(1, 1) : shelf(0, 0);
    },
  ),
  ofShelf(
    'an order and an inbound document',
    0,
    async (shop, of) => [place(of), await completion(shop, of, 'inbound', 1)],
    ([placed]) => (placed?.code === 0 ? shelf(1, 1) : shelf(1, 0)),
  ),
  ofShelf(
    'a payment and an outbound document',
    5,
    async (shop, of) => {
      const id = await placedOn(shop, of);
      return [pay(of.buyer, id), await completion(shop, of, 'outbound', 4)];
    },
    (answers) => both(answers, shelf(0, 0, 1)),
  ),
  ofShelf(
    'a cancellation and an inbound document',
    5,
    async (shop, of) => {
      const id = await placedOn(shop, of);
      return [cancel(of.buyer, id), await completion(shop, of, 'inbound', 4)];
    },
    (answers) => both(answers, shelf(9, 0)),
  ),
  ofShelf(
    'one document completed twice',
    5,
    async (shop, of) => {
      const complete = await completion(shop, of, 'outbound', 3);
      return [complete, complete];
    },
    (answers) => (codes(answers).includes(0) ? shelf(2, 0) : `answers ${codes(answers)}`),
    false,
  ),
  ofShelf(
    'two outbound documents for the same pieces',
    5,
    async (shop, of) => [await completion(shop, of, 'outbound', 3), await completion(shop, of, 'outbound', 3)],
    (answers) =>
      answers.filter((answer) => answer?.code === 0).length === 1 ? shelf(2, 0) : `answers ${codes(answers)}`,
    false,
  ),
  ofShelf(
    'an order and the disabling of its warehouse',
    5,
    async (shop, of) => [place(of), disable(shop, of)],
    ([placed, put]) =>
      put?.code !== 0 ? `status answered ${put?.code}` : disabledShelf(5, placed?.code === 0 ? 1 : 0),
  ),
  ofShelf(
    'a payment and the disabling of its warehouse',
    5,
    async (shop, of) => [pay(of.buyer, await placedOn(shop, of)), disable(shop, of)],
    (answers) => both(answers, disabledShelf(4, 0, 1)),
  ),
  ofShelf(
    'a cancellation and the disabling of its warehouse',
    5,
    async (shop, of) => [cancel(of.buyer, await placedOn(shop, of)), disable(shop, of)],
    (answers) => both(answers, disabledShelf(5, 0)),
  ),
  ofShelf(
    'two orders for the last piece',
    1,
    async (shop, of) => {
      const [other] = await shop.buyers(1);
      return [place(of), place({ ...of, buyer: other! })];
    },
    (answers) =>
      answers.filter((answer) => answer?.code === 0).length === 1 ? shelf(1, 1) : `answers ${codes(answers)}`,
    false,
  ),
];
