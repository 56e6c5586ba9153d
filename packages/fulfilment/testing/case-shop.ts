import { createStaff } from '@tradepost/identity';
import type { Answer } from '@tradepost/testing/client';
import { insertProduct, type Shop } from '@tradepost/testing/shop';

export type Buyer = { token: string; user_id: number };
export type BoughtOrder = Buyer & { id: number; sku_ids: number[]; lines: number[]; total: number };
type CaseType = 'return' | 'exchange';

/**
 * An order to make: one line for each element of `quantities`. `cut` is subtracted from the amount before it is paid. `stocked`
 * puts its SKUs into stock where the SKUs themselves do not hold it.
 */
type OrderPlan = {
  status?: 'unpaid' | 'paid' | 'shipped';
  quantities?: number[];
  price?: number;
  cut?: number;
  stocked?: (skuIds: readonly number[]) => Promise<unknown>;
};

/** Makes orders and cases over HTTP, as shoppers and an administrator. */
export async function openCaseShop(shop: Shop) {
  const { sql } = shop.database;
  const staffId = await createStaff(sql, {
    username: `staff${Math.trunc(performance.now())}`,
    password: 'staff-secret',
  });
  const staff = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: ['*'] });

  async function send(method: string, path: string, token: string, body?: unknown) {
    const answer = await shop.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.code} ${answer.message}`);
    return answer.data;
  }

  async function buy({ status = 'shipped', quantities = [3], price = 1000, cut = 0, stocked }: OrderPlan = {}) {
    const { sku_ids } = await insertProduct(shop.database, { price, stocks: quantities.map(() => 100) });
    await stocked?.(sku_ids);
    const { token, id: user_id, address_id } = await shop.shopper();
    for (const [index, qty] of quantities.entries())
      await send('POST', '/api/v1/cart/add', token, { sku_id: sku_ids[index], qty });
    const order = await send('POST', '/api/v1/orders', token, { address_id, sku_ids });
    if (cut > 0)
      await send('POST', '/admin/api/orders/batch/repricing', staff, {
        ids: [order.id],
        adjustment: { type: 'amount', value: -cut },
      });
    if (status !== 'unpaid') await send('POST', `/api/v1/orders/${order.id}/pay`, token);
    if (status === 'shipped')
      await send('PUT', `/admin/api/orders/${order.id}/ship`, staff, { company: 'SF', tracking_no: `SF${order.id}` });
    const { items, total_amount } = await send('GET', `/api/v1/orders/${order.id}`, token);
    const lines = items.map((item: { id: number }) => item.id) as number[];
    return { token, user_id, id: order.id, sku_ids, lines, total: total_amount } as BoughtOrder;
  }

  const applyFor = (order: BoughtOrder, body: object = {}, lang?: string): Promise<Answer> =>
    shop.call('POST', `/api/v1/orders/${order.id}/after-sales`, {
      token: order.token,
      body: { reason: 'Broken', items: [{ order_item_id: order.lines[0], qty: 1 }], ...body },
      ...(lang ? { lang } : {}),
    });
  async function openCase(order: BoughtOrder, case_type: CaseType = 'return', qty = 1, line = 0): Promise<number> {
    const answer = await applyFor(order, { case_type, items: [{ order_item_id: order.lines[line], qty }] });
    if (answer.code !== 0) throw new Error(`apply: ${answer.message}`);
    return answer.data.id;
  }

  const act = (caseId: number, action: string, body?: object, lang?: string): Promise<Answer> =>
    shop.call('POST', `/admin/api/after-sales/${caseId}/${action}`, {
      token: staff,
      ...(body ? { body } : {}),
      ...(lang ? { lang } : {}),
    });
  const sendBack = (
    order: Buyer,
    caseId: number,
    body: object = { company: '', tracking_no: 'BACK1' },
  ): Promise<Answer> =>
    shop.call('POST', `/api/v1/after-sales/${caseId}/return-shipments`, { token: order.token, body });
  const reship = (order: BoughtOrder, caseId: number, body: object = {}): Promise<Answer> =>
    shop.call('PUT', `/admin/api/orders/${order.id}/ship`, {
      token: staff,
      body: { ship_type: 'reship', after_sale_case_id: caseId, company: 'SF', tracking_no: `NEW${caseId}`, ...body },
    });

  /** The calls that take a case of this type from `applied` to each of its states. */
  const steps = (order: BoughtOrder, id: number, type: CaseType): Record<string, (() => Promise<Answer>)[]> => {
    const approve = () => act(id, 'audit', { approve: true });
    const toReturning = [approve, () => sendBack(order, id)];
    const received = [...toReturning, () => act(id, 'receive')];
    const settled = [...received, () => (type === 'return' ? act(id, 'refund', {}) : reship(order, id))];
    return {
      applied: [],
      rejected: [() => act(id, 'audit', { approve: false })],
      closed: [() => act(id, 'close', { reason: 'Withdrawn' })],
      approved_wait_user_return: [approve],
      user_returning: toReturning,
      ...(type === 'return'
        ? { refund_pending: received, refunded: settled }
        : { reship_pending: received, reshipped: settled }),
      completed: [...settled, () => act(id, 'complete')],
    };
  };
  /** Takes an applied case to a state. */
  async function bring(order: BoughtOrder, id: number, type: CaseType, status: string): Promise<void> {
    for (const step of steps(order, id, type)[status]!) {
      const answer = await step();
      if (answer.code !== 0) throw new Error(`case ${id} to ${status}: ${answer.message}`);
    }
  }

  const statusOf = async (caseId: number): Promise<string> => {
    const [row] = await sql`select status from fulfilment.after_sale_cases where id = ${caseId}`;
    return row!.status;
  };
  const orderStatusOf = async (orderId: number): Promise<number> => {
    const [row] = await sql`select status from orders.orders where id = ${orderId}`;
    return row!.status;
  };
  const stockOf = async (skuId: number): Promise<number> => {
    const [row] = await sql`select stock from catalog.product_skus where id = ${skuId}`;
    return row!.stock;
  };
  /** The refunded amounts of an order, in minor units. */
  const refundsOf = async (orderId: number): Promise<number[]> => {
    const rows = await sql<{ amount: number }[]>`
      select amount from orders.refunds where order_id = ${orderId} order by id`;
    return rows.map((row) => row.amount);
  };
  const detail = (caseId: number, lang = 'en') =>
    shop.call('GET', `/admin/api/after-sales/${caseId}`, { token: staff, lang }).then((answer) => answer.data);

  return {
    ...{ staff, staffId, send, buy, applyFor, openCase, act, sendBack, reship, bring, detail },
    ...{ statusOf, orderStatusOf, stockOf, refundsOf },
  };
}

export type CaseShop = Awaited<ReturnType<typeof openCaseShop>>;
