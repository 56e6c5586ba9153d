import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BoughtOrder, type CaseShop, openCaseShop } from '../testing/case-shop.ts';

/** Every action is tried in every state of both chains. What the table does not allow is refused and changes nothing. */
let shop: Shop;
let at: CaseShop;
beforeAll(async () => {
  shop = await openShop();
  at = await openCaseShop(shop);
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

const states = {
  return: [
    'applied',
    'approved_wait_user_return',
    'user_returning',
    'refund_pending',
    'refunded',
    'completed',
    'rejected',
    'closed',
  ],
  exchange: [
    'applied',
    'approved_wait_user_return',
    'user_returning',
    'reship_pending',
    'reshipped',
    'completed',
    'rejected',
    'closed',
  ],
} as const;
const open = ['applied', 'approved_wait_user_return', 'user_returning', 'refund_pending', 'reship_pending'];

/** Where each action is allowed, and its refusal elsewhere. Written from the rules and not from the code. */
const actions: Record<
  string,
  { allowed: string[]; refusal: string; run: (order: BoughtOrder, id: number) => ReturnType<CaseShop['act']> }
> = {
  approve: {
    allowed: ['applied'],
    refusal: 'Cannot review in current status',
    run: (_, id) => at.act(id, 'audit', { approve: true }),
  },
  reject: {
    allowed: ['applied'],
    refusal: 'Cannot review in current status',
    run: (_, id) => at.act(id, 'audit', { approve: false, audit_remark: 'no' }),
  },
  return: {
    allowed: ['approved_wait_user_return'],
    refusal: 'Cannot submit return shipping in current status',
    run: (order, id) => at.sendBack(order, id),
  },
  receive: {
    allowed: ['user_returning'],
    refusal: 'Cannot confirm receipt in current status',
    run: (_, id) => at.act(id, 'receive'),
  },
  refund: {
    allowed: ['refund_pending'],
    refusal: 'Cannot process refund in current status',
    run: (_, id) => at.act(id, 'refund', { amount: 1 }),
  },
  reship: {
    allowed: ['reship_pending'],
    refusal: 'After-sale status does not allow reship',
    run: (order, id) => at.reship(order, id),
  },
  complete: {
    // A completed case counts as success.
    allowed: ['refunded', 'reshipped', 'completed'],
    refusal: 'Cannot complete in current status',
    run: (_, id) => at.act(id, 'complete'),
  },
  close: {
    allowed: open,
    refusal: 'Cannot close in current status',
    run: (_, id) => at.act(id, 'close', { reason: 'Withdrawn' }),
  },
};

const everyState = (['return', 'exchange'] as const).flatMap((type) =>
  states[type].map((status) => [type, status] as const),
);

test.each(everyState)('a case of type %s in %s refuses what the table does not allow', async (type, status) => {
  const order = await at.buy({ quantities: [1] });
  const id = await at.openCase(order, type, 1);
  await at.bring(order, id, type, status);
  const stock = await at.stockOf(order.sku_ids[0]!);
  const [refunds, orderStatus] = [await at.refundsOf(order.id), await at.orderStatusOf(order.id)];
  for (const [name, { allowed, refusal, run }] of Object.entries(actions)) {
    if (allowed.includes(status)) continue;
    const answer = await run(order, id);
    expect({ name, code: answer.code, message: answer.message }).toEqual({ name, code: 500, message: refusal });
  }
  expect(await at.statusOf(id)).toBe(status);
  expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock);
  expect([await at.refundsOf(order.id), await at.orderStatusOf(order.id)]).toEqual([refunds, orderStatus]);
  const ended = ['completed', 'rejected', 'closed'].includes(status);
  expect(orderStatus).toBe(ended ? 3 : 5);
});

test.each(open)('a case in %s can be closed, with a reason', async (status) => {
  const order = await at.buy({ quantities: [1] });
  const type = status === 'reship_pending' ? 'exchange' : 'return';
  const id = await at.openCase(order, type, 1);
  await at.bring(order, id, type, status);
  expect((await at.act(id, 'close', { reason: '  ' })).message).toBe('Please provide a close reason');
  expect((await at.act(id, 'close', { reason: '\u200b' })).message).toBe('Please provide a close reason');
  expect((await at.act(id, 'close', {}, 'zh-CN')).message).toMatch(chinese);
  expect(await at.act(id, 'close', { reason: 'Withdrawn' })).toMatchObject({ code: 0, data: null });
  expect(await at.detail(id)).toMatchObject({ status: 'closed', close_reason: 'Withdrawn', completed_at: null });
  expect(await at.orderStatusOf(order.id)).toBe(3);
});

test('an action on a case that does not exist is refused with 404', async () => {
  const bodies = {
    audit: { approve: true },
    receive: undefined,
    refund: {},
    complete: undefined,
    close: { reason: 'x' },
  };
  for (const [action, body] of Object.entries(bodies))
    expect(await at.act(2 ** 40, action, body)).toMatchObject({ code: 404, message: 'After-sale case not found' });
});
