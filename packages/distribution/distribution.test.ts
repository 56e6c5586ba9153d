import { shopperDeleted } from '@tradepost/identity';
import { recordEvents } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import type { Answer } from '@tradepost/testing/client';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements } from '@tradepost/testing/statements';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Field lists of the contract: storefront 7, and the two dialects of admin 7. */
const fields = {
  distributor:
    'id i, user_id i, parent_id i, level i, status s, status_label s, total_earnings n, available_amount n, frozen_amount n, ' +
    'withdrawn_amount n, total_customers i, total_orders i, real_name s, id_card s, phone s, created_at t',
  commission:
    'id i, order_id i, distributor_id i, level i, order_amount n, commission_rate n, commission n, status s, ' +
    'status_label s, settled_at t|null, created_at t',
  withdrawal:
    'id i, distributor_id i, amount n, fee n, actual_amount n, status s, status_label s, reject_reason s, bank_name s, ' +
    'bank_account s, account_name s, processed_at t|null, completed_at t|null, created_at t',
  numericDistributor:
    'id i, user_id i, parent_id i, level i, nickname s, phone s, balance n, total_earn n, status 0/1, created_at t, updated_at t',
  numericCommission: 'id i, order_id i, distributor_id i, level i, amount n, status i, created_at t',
  config:
    'enabled b, level i, level1_rate n, level2_rate n, level3_rate n, min_withdraw n, withdraw_fee_rate n, auto_approve b, ' +
    'require_real_name b',
};

const plain = '/admin/api/distribution';
const doubled = '/admin/api/admin/api/distribution';
const own = '/api/v1/distribution';

type Shopper = Awaited<ReturnType<Shop['shopper']>>;
let shop: Shop;
let staff: string;
let sku: number;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['*'] });
  const product = await insertProduct(shop.database, { price: 10_000, stocks: [100_000] });
  sku = product.sku_ids[0]!;
});
afterAll(() => shop?.close());

const get = async (path: string, token: string) => {
  const answer = await shop.call('GET', path, { token, lang: 'en' });
  expect(answer.code, answer.message).toBe(0);
  return answer.data;
};
const send = (method: string, path: string, token: string, body?: unknown, key?: string): Promise<Answer> =>
  shop.call(method, path, {
    ...{ token, lang: 'en', headers: key ? { 'idempotency-key': key } : {} },
    ...(body === undefined ? {} : { body }),
  });
const done = async (method: string, path: string, token: string, body?: unknown) => {
  const answer = await send(method, path, token, body);
  expect(answer.code, `${path}: ${answer.message}`).toBe(0);
  return answer.data;
};
const refusal = async (method: string, path: string, token: string, body?: unknown) => {
  const { code, message } = await send(method, path, token, body);
  return `${code} ${message}`;
};
const config = (changes: object) => done('PUT', `${doubled}/config`, staff, changes);
const dispatch = () => dispatchEvents(shop);

const person = { real_name: 'Ann Lee', id_card: '110101199001011234', phone: '13812345678' };
const bank = { bank_name: 'Bank of China', bank_account: '6222020200112233', account_name: 'Ann Lee' };

/** A shopper who is an active distributor. */
async function distributor(parent_id = 0): Promise<Shopper & { distributor_id: number }> {
  const shopper = await shop.shopper();
  const { id } = await done('POST', `${own}/apply`, shopper.token, { ...person, parent_id });
  await done('PUT', `${plain}/distributors/${id}/status`, staff, { status: 1 });
  return { ...shopper, distributor_id: id };
}
async function customer(distributor_id: number): Promise<Shopper> {
  const shopper = await shop.shopper();
  await done('POST', `${own}/bind`, shopper.token, { distributor_id });
  return shopper;
}
async function place({ token, address_id }: Shopper, qty = 1): Promise<number> {
  if (qty > 1) await done('POST', '/api/v1/cart/add', token, { sku_id: sku, qty });
  return (await done('POST', '/api/v1/orders', token, { address_id, items: [{ sku_id: sku }] })).id;
}
const pay = (shopper: Shopper, order: number) => done('POST', `/api/v1/orders/${order}/pay`, shopper.token);
async function complete(shopper: Shopper, order: number): Promise<void> {
  await done('PUT', `/admin/api/orders/${order}/ship`, staff, { company: 'SF', tracking_no: `SF${order}` });
  await done('POST', `/api/v1/orders/${order}/review`, shopper.token, { content: 'Good' });
}
/** Refunds an amount of an order by an after-sale case. */
async function refund({ token }: Shopper, order: number, amount: number, qty = 1): Promise<void> {
  const { items } = await get(`/api/v1/orders/${order}`, token);
  const lines = [{ order_item_id: items[0].id, qty }];
  const { id } = await done('POST', `/api/v1/orders/${order}/after-sales`, token, { reason: 'Broken', items: lines });
  await done('POST', `/admin/api/after-sales/${id}/audit`, staff, { approve: true });
  await done('POST', `/api/v1/after-sales/${id}/return-shipments`, token, { company: '', tracking_no: `B${id}` });
  await done('POST', `/admin/api/after-sales/${id}/receive`, staff);
  await done('POST', `/admin/api/after-sales/${id}/refund`, staff, { amount });
  await done('POST', `/admin/api/after-sales/${id}/complete`, staff);
}
/** A distributor with this available amount: the commission of 10 % of one completed order. */
async function rich(qty: number): Promise<Awaited<ReturnType<typeof distributor>>> {
  const seller = await distributor();
  const buyer = await customer(seller.distributor_id);
  const order = await place(buyer, qty);
  await pay(buyer, order);
  await complete(buyer, order);
  await dispatch();
  return seller;
}
const info = ({ token }: Shopper) => get(`${own}/info`, token);
const sums = async (shopper: Shopper) => {
  const { total_earnings, available_amount, frozen_amount, withdrawn_amount, debt_amount } = await info(shopper);
  return [total_earnings, available_amount, frozen_amount, withdrawn_amount, debt_amount];
};
const ordersOf = async ({ token }: Shopper) => (await get(`${own}/orders`, token)).list;

describe('an application', () => {
  test('is pending until staff approve it, and its personal data is encrypted and masked', async () => {
    const shopper = await shop.shopper();
    expect(await info(shopper)).toBeNull();
    expect(await get(`${own}/team`, shopper.token)).toEqual({ distributor: null, team: [], total: 0 });
    expect(await ordersOf(shopper)).toEqual([]);
    const applied = await done('POST', `${own}/apply`, shopper.token, person);
    expectFields(applied, fields.distributor);
    expect(applied).toMatchObject({
      user_id: shopper.id,
      parent_id: 0,
      level: 1,
      status: 'pending',
      id_card: '****1234',
    });
    expect(await info(shopper)).toEqual({ ...applied, id_card: person.id_card });
    expect(await refusal('POST', `${own}/apply`, shopper.token, person)).toBe('1 You have applied already');
    expect(await refusal('POST', `${own}/withdrawals`, shopper.token, { amount: 100, ...bank })).toBe(
      '1 The distributor is not active',
    );

    const row = await get(`${doubled}/distributors/${applied.id}`, staff);
    expectFields(row, fields.distributor);
    expect(row).toEqual(applied);
    const numeric = await get(`${plain}/distributors/${applied.id}`, staff);
    expectFields(numeric, fields.numericDistributor);
    expect(numeric).toMatchObject({ status: 0, level: 1, nickname: shopper.username, phone: person.phone, balance: 0 });

    expect(await done('PUT', `${doubled}/distributors/${applied.id}`, staff, { ...row, status: 'active' })).toBeNull();
    expect(await info(shopper)).toMatchObject({ status: 'active', status_label: 'Active' });
    await dispatch();
    const { list } = await get('/api/v1/messages', shopper.token);
    expect(list.map(({ title }: { title: string }) => title)).toEqual(['You are a distributor now']);
    expect(await get(`${plain}/distributors?keyword=${shopper.username}&status=1`, staff)).toMatchObject({
      ...{ total: 1, list: [{ id: applied.id, status: 1 }] },
    });
    expect((await get(`${plain}/distributors?keyword=${shopper.username}&status=0`, staff)).total).toBe(0);
    const all = await get(`${doubled}/distributors?status=-1&page=&size=`, staff);
    expect((await get(`${doubled}/distributors?status=pending`, staff)).total).toBe(all.total - 1);
    const [stored] = await shop.database.sql`
      select d::text as text from distribution.distributors d where id = ${applied.id}`;
    expect(stored!.text).not.toContain(person.id_card);
  });

  test('needs the name only when the shop wants it, and is approved at once when the shop wants that', async () => {
    const shopper = await shop.shopper();
    expect(await refusal('POST', `${own}/apply`, shopper.token, { ...person, real_name: ' ' })).toBe(
      '400 real_name: is missing',
    );
    await config({ require_real_name: false, auto_approve: true });
    const applied = await done('POST', `${own}/apply`, shopper.token, { phone: '13800000000' });
    expect(applied).toMatchObject({ status: 'active', real_name: '', id_card: '' });
    await config({ require_real_name: true, auto_approve: false });
  });

  test('names an active parent, and a customer stays with the distributor', async () => {
    const [top, other] = [await distributor(), await distributor()];
    const shopper = await customer(top.distributor_id);
    const apply = (parent_id: number) => refusal('POST', `${own}/apply`, shopper.token, { ...person, parent_id });
    expect(await apply(other.distributor_id)).toBe('1 You belong to another distributor already');
    const third = await shop.shopper();
    expect(await refusal('POST', `${own}/apply`, third.token, { ...person, parent_id: 999_999 })).toBe(
      '1 The referring distributor does not exist',
    );
    expect(await apply(0)).toBe('0 success');
    expect(await info(shopper)).toMatchObject({ parent_id: top.distributor_id, level: 2 });
    const { distributor: head, team } = await get(`${own}/team`, top.token);
    expect(head).toMatchObject({ id: top.distributor_id, total_customers: 1 });
    for (const member of team) expectFields(member, fields.distributor);
    expect(team).toMatchObject([{ user_id: shopper.id, real_name: 'A**', id_card: '', phone: '****5678' }]);
  });
});

test('a shopper is bound to a distributor once, before the first paid order, and never to himself', async () => {
  const [seller, other] = [await distributor(), await distributor()];
  const bind = ({ token }: Shopper, distributor_id: number) =>
    refusal('POST', `${own}/bind`, token, { distributor_id });
  expect(await bind(seller, seller.distributor_id)).toBe('1 A distributor cannot be the customer of a distributor');
  const shopper = await shop.shopper();
  expect(await bind(shopper, 999_999)).toBe('1 Distributor not found');
  const answers = await Promise.all([seller, other, seller, other].map((one) => bind(shopper, one.distributor_id)));
  expect(answers.filter((answer) => answer === '0 success')).toHaveLength(2);
  const customers = [await info(seller), await info(other)].map(({ total_customers }) => total_customers);
  expect(customers.sort()).toEqual([0, 1]);
  const buyer = await shop.shopper();
  await pay(buyer, await place(buyer));
  expect(await bind(buyer, seller.distributor_id)).toMatch(/^1 Only shoppers without a paid order/);
});

describe('commissions', () => {
  test('go to the levels above the buyer; own purchases and disabled distributors earn nothing', async () => {
    await config({ level: 3, level1_rate: 10, level2_rate: 5.55, level3_rate: 2 });
    const a = await distributor();
    const b = await distributor(a.distributor_id);
    const c = await distributor(b.distributor_id);
    const d = await distributor(c.distributor_id);
    expect(await info(d)).toMatchObject({ level: 4, parent_id: c.distributor_id });
    const earned = async (buyer: Shopper) => {
      const order = await place(buyer, 3);
      const rows = await shop.database.sql`
        select distributor_id, level, commission, status from distribution.commissions where order_id = ${order} order by level`;
      return rows.map((row) => [row.distributor_id, row.level, row.commission, row.status]);
    };
    const [ai, bi, ci, di] = [a, b, c, d].map(({ distributor_id }) => distributor_id);
    const buyer = await customer(d.distributor_id);
    expect(await earned(buyer)).toEqual([
      [di, 1, 3_000, 'candidate'],
      [ci, 2, 1_665, 'candidate'],
      [bi, 3, 600, 'candidate'],
    ]);
    expect((await earned(d)).map(([id]) => id)).toEqual([ci, bi, ai]);
    expect(await earned(a)).toEqual([]);
    expect(await earned(await shop.shopper())).toEqual([]);
    // A disabled distributor keeps the place in the chain.
    await done('PUT', `${doubled}/distributors/${ci}`, staff, { status: 'disabled' });
    expect((await earned(buyer)).map(([id, level]) => [id, level])).toEqual([
      [di, 1],
      [bi, 3],
    ]);
    await config({ level: 1 });
    expect((await earned(buyer)).map(([id]) => id)).toEqual([di]);
    const { texts } = await logStatements(shop).during(() => place(buyer));
    expect(texts.filter((text) => text.includes('distribution.'))).toHaveLength(2);
    await config({ enabled: false });
    const off = await logStatements(shop).during(() => place(buyer));
    expect(off.texts.filter((text) => text.includes('distribution.'))).toEqual([]);
    expect(await refusal('POST', `${own}/bind`, (await shop.shopper()).token, { distributor_id: di })).toBe(
      '1 Distribution is not open',
    );
    await config({ enabled: true, level: 2, level2_rate: 5 });
  });

  test('are pending until the order is completed, of what the buyer pays', async () => {
    const seller = await distributor();
    const buyer = await customer(seller.distributor_id);
    const order = await place(buyer, 2);
    const body = {
      items: [{ item_id: (await get(`/api/v1/orders/${order}`, buyer.token)).items[0].id, price: 80.01 }],
    };
    await done('POST', `/admin/api/orders/${order}/repricing`, staff, body);
    const [candidate] = await ordersOf(seller);
    expectFields(candidate, fields.commission);
    expect(candidate).toMatchObject({
      order_id: order,
      level: 1,
      order_amount: 200,
      commission: 20,
      status: 'pending',
    });
    expect(await refusal('PUT', `${plain}/commissions/${candidate.id}/settle`, staff)).toMatch(
      /^1 The order .* not paid/,
    );
    await pay(buyer, order);
    await dispatch();
    // Rounded down to the cent.
    expect(await ordersOf(seller)).toMatchObject([
      { order_amount: 160.02, commission_rate: 10, commission: 16, status: 'pending', settled_at: null },
    ]);
    await complete(buyer, order);
    await dispatch();
    const [settled] = await ordersOf(seller);
    expectFields(settled, fields.commission);
    expect(settled).toMatchObject({ status: 'settled', status_label: 'Settled', settled_at: expect.any(String) });
    expect(await info(seller)).toMatchObject({ total_orders: 1, total_earnings: 16, available_amount: 16 });
    const listed = await get(`${doubled}/orders?status=settled&size=1000`, staff);
    expect(listed.list.find(({ id }: { id: number }) => id === settled.id)).toEqual(settled);
    expect(await get(`${plain}/orders/${settled.id}`, staff)).toEqual(settled);
    const numeric = await get(`${plain}/commissions?status=2&level=1&distributor_id=${seller.distributor_id}`, staff);
    expectFields(numeric.list[0], fields.numericCommission);
    expect(numeric).toMatchObject({
      total: 1,
      list: [{ order_id: order, amount: 16, status: 2, status_label: 'Settled' }],
    });
  });

  test('are cancelled with the order, and taken back in proportion with refunds', async () => {
    const seller = await distributor();
    const buyer = await customer(seller.distributor_id);
    const dropped = await place(buyer);
    await done('POST', `/api/v1/orders/${dropped}/cancel`, buyer.token);
    expect(await ordersOf(seller)).toMatchObject([{ status: 'cancelled' }]);

    const order = await place(buyer, 3);
    await pay(buyer, order);
    await dispatch();
    // Before the order is completed: reduced.
    await refund(buyer, order, 33.35);
    await dispatch();
    expect((await ordersOf(seller))[0]).toMatchObject({ order_amount: 300, commission: 26.66, status: 'pending' });
    await complete(buyer, order);
    await dispatch();
    expect(await sums(seller)).toEqual([26.66, 26.66, 0, 0, 0]);
    // Afterwards: a move of money.
    await refund(buyer, order, 100);
    await dispatch();
    expect((await ordersOf(seller))[0]).toMatchObject({ commission: 16.66, status: 'settled' });
    // Events that are dispatched again change nothing.
    await shop.database.sql`update runtime.outbox set dispatched_at = null where data->>'order_id' = ${String(order)}`;
    await dispatch();
    expect(await sums(seller)).toEqual([16.66, 16.66, 0, 0, 0]);
    await refund(buyer, order, 166.65);
    await dispatch();
    expect((await ordersOf(seller))[0]).toMatchObject({ commission: 0, status: 'cancelled' });
    expect(await sums(seller)).toEqual([0, 0, 0, 0, 0]);

    // Refunded in full before it was shipped.
    const returned = await place(buyer);
    await pay(buyer, returned);
    await refund(buyer, returned, 100);
    await dispatch();
    expect((await ordersOf(seller))[0]).toMatchObject({ order_id: returned, status: 'cancelled' });
    expect(await info(seller)).toMatchObject({ total_orders: 0, total_earnings: 0 });
  });

  test('of a paid order that is cancelled are taken back, settled by hand or not', async () => {
    const seller = await distributor();
    const buyer = await customer(seller.distributor_id);
    const [first, second] = [await place(buyer), await place(buyer)];
    for (const order of [first, second]) await pay(buyer, order);
    await dispatch();
    const [{ id }] = await ordersOf(seller);
    await done('PUT', `${plain}/commissions/${id}/settle`, staff);
    expect(await sums(seller)).toEqual([10, 10, 0, 0, 0]);
    const events = [
      ['order.cancelled', { order_id: second, reason: 'merchant_close' }],
      ['order.after_sale_ended', { order_id: first, status: 6 }],
    ] as const;
    for (const [name, facts] of events) {
      const data = { order_no: 'N', user_id: buyer.id, total_amount: 10_000, ...facts };
      await shop.database.sql`
        insert into runtime.outbox (name, subject, data, occurred_at)
        values (${name}, ${`order:${facts.order_id}`}, ${shop.database.sql.json(data)}, now())`;
    }
    await dispatch();
    expect(await ordersOf(seller)).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }]);
    expect(await sums(seller)).toEqual([0, 0, 0, 0, 0]);
    expect(await info(seller)).toMatchObject({ total_orders: 0 });
  });

  test('that were withdrawn and are taken back become a debt, which the next earnings pay', async () => {
    await config({ min_withdraw: 1 });
    const seller = await distributor();
    const buyer = await customer(seller.distributor_id);
    const order = await place(buyer, 5);
    await pay(buyer, order);
    await complete(buyer, order);
    await dispatch();
    await done('POST', `${own}/withdrawals`, seller.token, { amount: 45, ...bank });
    await refund(buyer, order, 200);
    await dispatch();
    expect(await sums(seller)).toEqual([30, 0, 45, 0, 15]);
    const next = await place(buyer, 2);
    await pay(buyer, next);
    await dispatch();
    const [commission] = await ordersOf(seller);
    expect(await done('PUT', `${plain}/commissions/${commission.id}/settle`, staff)).toBeNull();
    expect(await sums(seller)).toEqual([50, 5, 45, 0, 0]);
    expect(await refusal('PUT', `${plain}/commissions/${commission.id}/settle`, staff)).toMatch(/^1 Only a pending/);
    // The completion of an order that was settled by hand does nothing more.
    await complete(buyer, next);
    await dispatch();
    expect(await sums(seller)).toEqual([50, 5, 45, 0, 0]);
    expect(await done('PUT', `${plain}/commissions/${commission.id}/return`, staff)).toBeNull();
    expect(await refusal('PUT', `${plain}/commissions/${commission.id}/return`, staff)).toMatch(
      /^1 .*returned already/,
    );
    expect(await sums(seller)).toEqual([30, 0, 45, 0, 15]);
    const { list } = await get(`${plain}/withdrawals?status=pending`, staff);
    await done('POST', `${plain}/withdrawals/${list[0].id}/reject`, staff, { reason: 'Wrong account' });
    expect(await sums(seller)).toEqual([30, 30, 0, 0, 0]);
    await config({ min_withdraw: 100 });
  });

  test('of a distributor who is disabled when the order is completed are cancelled', async () => {
    const seller = await distributor();
    const buyer = await customer(seller.distributor_id);
    const order = await place(buyer);
    await pay(buyer, order);
    await dispatch();
    await done('PUT', `${plain}/distributors/${seller.distributor_id}/status`, staff, { status: 0 });
    const [commission] = await ordersOf(seller);
    expect(await refusal('PUT', `${plain}/commissions/${commission.id}/settle`, staff)).toMatch(/^1 .*not active/);
    await complete(buyer, order);
    await dispatch();
    expect(await ordersOf(seller)).toMatchObject([{ status: 'cancelled' }]);
  });

  test('settled and refunded at once have one outcome', async () => {
    const seller = await distributor();
    const buyer = await customer(seller.distributor_id);
    const orders = await Promise.all(Array.from({ length: 5 }, () => place(buyer)));
    for (const order of orders) await pay(buyer, order);
    await dispatch();
    for (const order of orders) await refund(buyer, order, 60);
    const ids = (await ordersOf(seller)).map(({ id }: { id: number }) => id);
    await Promise.all([
      ...ids.map((id: number) => send('PUT', `${plain}/commissions/${id}/settle`, staff)),
      ...ids.map((id: number) => send('PUT', `${plain}/commissions/${id}/settle`, staff)),
      dispatch(),
    ]);
    await dispatch();
    expect(await sums(seller)).toEqual([20, 20, 0, 0, 0]);
    expect(await info(seller)).toMatchObject({ total_orders: 5 });
  });
});

describe('a withdrawal', () => {
  test('is frozen, approved and paid, with its fee, its history and messages', async () => {
    const seller = await rich(20);
    await config({ withdraw_fee_rate: 0.55, min_withdraw: 50 });
    const ask = (amount: number) => refusal('POST', `${own}/withdrawals`, seller.token, { amount, ...bank });
    expect(await ask(49.99)).toBe('1 The smallest withdrawal is 50.00');
    expect(await ask(200.01)).toBe('1 The available amount is too small');
    for (const amount of [-1, 0, 0.001, 1e15]) expect(await ask(amount)).toMatch(/^400 amount/);
    await config({ min_withdraw: 0 });
    expect(await ask(0)).toMatch(/^400 amount/);
    await config({ min_withdraw: 50 });
    expect(await refusal('POST', `${own}/withdrawals`, (await shop.shopper()).token, { amount: 50, ...bank })).toBe(
      '1 You are not a distributor',
    );
    const wanted = await done('POST', `${own}/withdrawals`, seller.token, { amount: 101, ...bank });
    expectFields(wanted, fields.withdrawal);
    // 0.5555 is rounded to 0.56.
    expect(wanted).toMatchObject({ amount: 101, fee: 0.56, actual_amount: 100.44, status: 'pending' });
    expect(wanted).toMatchObject({ bank_account: '****2233', processed_at: null, completed_at: null });
    expect(await sums(seller)).toEqual([200, 99, 101, 0, 0]);
    const path = `${doubled}/withdrawals/${wanted.id}`;
    expect(await refusal('POST', `${path}/complete`, staff)).toBe('1 Only an approved withdrawal can be completed');
    expect(await refusal('POST', `${path}/reject`, staff, { reason: ' ' })).toMatch(/^400 reason/);
    expect(await done('POST', `${path}/approve`, staff)).toBeNull();
    expect(await refusal('POST', `${path}/approve`, staff)).toBe('1 Only a pending withdrawal can be approved');
    expect(await done('POST', `${plain}/withdrawals/${wanted.id}/complete`, staff)).toBeNull();
    expect(await refusal('POST', `${path}/reject`, staff, { reason: 'Late' })).toMatch(/^1 Only a pending or approved/);
    expect(await sums(seller)).toEqual([200, 99, 0, 101, 0]);

    const listed = (await get(`${doubled}/withdrawals?status=completed`, staff)).list[0];
    expectFields(listed, fields.withdrawal);
    expect(listed).toMatchObject({ id: wanted.id, status: 'completed', completed_at: expect.any(String) });
    expect((await get(`${own}/withdrawals`, seller.token)).list).toEqual([listed]);
    const detail = await get(path, staff);
    expect(detail).toMatchObject({ ...listed, bank_account: bank.bank_account });
    const moves = detail.history.map((row: Record<string, unknown>) => [row.to_status, row.operator, row.operator_id]);
    expect(moves).toEqual([
      ['pending', 'user', seller.id],
      ['approved', 'admin', 7],
      ['completed', 'admin', 7],
    ]);
    const viewer = await shop.server.tokens.issue({ role: 'admin', id: 8, perms: ['distribution:view'] });
    expect(await get(path, viewer)).toMatchObject({ bank_account: '****2233' });
    expect((await send('POST', `${path}/approve`, viewer)).code).toBe(403);
    await dispatch();
    const titles = (await get('/api/v1/messages', seller.token)).list.map(({ title }: { title: string }) => title);
    expect(titles.slice(0, 2)).toEqual(['Withdrawal paid', 'Withdrawal approved']);
    await config({ withdraw_fee_rate: 0, min_withdraw: 100 });
  });

  test('of a balance: 20 at once take it once, and an approval and a rejection at once have one winner', async () => {
    const seller = await rich(50);
    const ask = (amount: number, key?: string) =>
      send('POST', `${own}/withdrawals`, seller.token, { amount, ...bank }, key);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(100)));
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(5);
    expect(await sums(seller)).toEqual([500, 0, 500, 0, 0]);
    const ids = answers.flatMap(({ code, data }) => (code === 0 ? [data.id as number] : []));
    const move = (id: number, action: string, body?: object) =>
      send('POST', `${plain}/withdrawals/${id}/${action}`, staff, body).then(({ code }) => (code === 0 ? action : ''));
    const times = (n: number, work: () => Promise<string>) => Promise.all(Array.from({ length: n }, work));
    const [paid, ...others] = ids as [number, ...number[]];
    expect((await times(10, () => move(paid, 'approve'))).filter((won) => won)).toHaveLength(1);
    expect((await times(10, () => move(paid, 'complete'))).filter((won) => won)).toHaveLength(1);
    for (const id of others) {
      await move(id, 'approve');
      const both = [move(id, 'complete'), move(id, 'reject', { reason: 'No' }), move(id, 'complete')];
      expect((await Promise.all(both)).filter((won) => won)).toHaveLength(1);
    }
    const [earned, available, frozen, withdrawn] = await sums(seller);
    expect([earned, frozen, available + withdrawn]).toEqual([500, 0, 500]);
  });

  test('with an Idempotency-Key is asked for once', async () => {
    const seller = await rich(30);
    const body = { amount: 100, ...bank };
    const asked = await Promise.all(
      [1, 2, 3].map(() => send('POST', `${own}/withdrawals`, seller.token, body, 'once')),
    );
    expect(new Set(asked.map(({ data }) => data.id)).size).toBe(1);
    expect(await sums(seller)).toEqual([300, 200, 100, 0, 0]);
  });

  test('of a deleted account keeps its bank account until it is paid, and the money history stays', async () => {
    const seller = await rich(30);
    const { id } = await done('POST', `${own}/withdrawals`, seller.token, { amount: 100, ...bank });
    const { sql } = shop.database;
    await sql.begin((tx) => recordEvents(tx, shopperDeleted, [{ user_id: seller.id }], new Date()));
    await dispatch();
    const path = `${doubled}/distributors/${seller.distributor_id}`;
    expect(await get(path, staff)).toMatchObject({ status: 'disabled', real_name: '', phone: '', id_card: '' });
    expect(await refusal('PUT', path, staff, { status: 'active' })).toMatch(/^1 The shopper deleted the account/);
    await done('POST', `${plain}/withdrawals/${id}/approve`, staff);
    expect(await get(`${plain}/withdrawals/${id}`, staff)).toMatchObject({ bank_account: bank.bank_account });
    await done('POST', `${plain}/withdrawals/${id}/complete`, staff);
    const ended = { bank_account: '', bank_name: '', account_name: '', status: 'completed' };
    expect(await get(`${plain}/withdrawals/${id}`, staff)).toMatchObject(ended);
    expect(await get(path, staff)).toMatchObject({ total_earnings: 300, available_amount: 200, withdrawn_amount: 100 });
  });
});

test('both dialects read and write one configuration', async () => {
  const before = await get(`${doubled}/config`, staff);
  expectFields(before, fields.config);
  expect(before).toMatchObject({ enabled: true, level: 2, level1_rate: 10, level2_rate: 5, level3_rate: 2 });
  expect(before).toMatchObject({
    min_withdraw: 100,
    withdraw_fee_rate: 0,
    auto_approve: false,
    require_real_name: true,
  });
  const fractions = await done('PUT', `${plain}/config`, staff, { level1_rate: 0.1235, level2_rate: 0.2 });
  expect(fractions).toEqual({ ...before, level1_rate: 0.1235, level2_rate: 0.2, level3_rate: 0.02 });
  expect(await get(`${plain}/config`, staff)).toEqual(fractions);
  expect(await get(`${doubled}/config`, staff)).toEqual({ ...before, level1_rate: 12.35, level2_rate: 20 });
  const refused = (path: string, body: object) => refusal('PUT', `${path}/config`, staff, body);
  expect(await refused(plain, { level1_rate: 10 })).toMatch(/^400 level1_rate/);
  expect(await refused(doubled, { level: 4 })).toMatch(/^400 level/);
  expect(await refused(doubled, { level1_rate: 90 })).toBe('1 The rates of the levels add up to more than 100 %');
  expect(await refused(plain, { level1_rate: 0.12345 })).toBe('400 level1_rate: must have at most 4 decimals');
  expect(await refused(doubled, { withdraw_fee_rate: 0.125 })).toBe(
    '400 withdraw_fee_rate: must have at most 2 decimals',
  );
  expect(await config({ ...before, unknown: 1 })).toEqual(before);
  const calculated = { level1_rate: 100 * 0.07, level3_rate: '', min_withdraw: 0.1 + 0.2, withdraw_fee_rate: '' };
  expect(await config(calculated)).toMatchObject({
    level1_rate: 7,
    level3_rate: 0,
    min_withdraw: 0.3,
    withdraw_fee_rate: 0,
  });
  await config({ level3_rate: before.level3_rate, min_withdraw: before.min_withdraw });
});

test('the audits find nothing, and nothing of a bank account is stored in the clear', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  const { sql } = shop.database;
  for (const table of ['distribution.withdrawals', 'runtime.idempotency_keys', 'runtime.outbox', 'change_log.changes'])
    for (const secret of [bank.bank_account, person.id_card]) {
      const rows = await sql.unsafe(`select 1 from ${table} t where t::text like '%${secret}%'`);
      expect([table, rows.length]).toEqual([table, 0]);
    }
});
