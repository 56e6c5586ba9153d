import { auditViolations } from '@tradepost/testing/audit-violations';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let shop: Shop;
let admin: string;
type Made = { id: number; order_no: string; total: number };
const made: Record<string, Made> = {};

const list = async (query: string, lang = 'en') => {
  const answer = await shop.call('GET', `/admin/api/orders?size=50${query}`, { token: admin, lang });
  expect(answer.message).toBe('success');
  return answer.data as { list: Made[]; total: number };
};
const names = ({ list: rows }: { list: { id: number }[] }) =>
  rows.map((row) => Object.keys(made).find((name) => made[name]!.id === row.id) ?? '?').sort();

beforeAll(async () => {
  shop = await openShop();
  admin = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const mug = await insertProduct(shop.database, { title: '搪瓷杯 Enamel Mug', price: 1290, stocks: [1000] });
  const lamp = await insertProduct(shop.database, { title: 'Desk Lamp 100%', price: 25_000, stocks: [1000] });
  const { sql } = shop.database;
  const place = async (
    name: string,
    who: { nickname: string; receiver: string; phone: string; province: string },
    of: number[],
    method = 'wechat',
  ) => {
    const buyer = await shop.shopper();
    await sql`update identity.shoppers set nickname = ${who.nickname} where id = ${buyer.id}`;
    const { receiver, phone, province } = who;
    await shop.call('PUT', `/api/v1/addresses/${buyer.address_id}`, {
      token: buyer.token,
      body: { name: receiver, phone, province, city: 'C', district: 'D', detail: 'E' },
    });
    const { data } = await shop.call('POST', '/api/v1/orders', {
      token: buyer.token,
      body: { address_id: buyer.address_id, items: of.map((sku_id) => ({ sku_id })), payment_method: method },
    });
    made[name] = { id: data.id, order_no: data.order_no, total: data.total_amount };
    return { buyer, order: data };
  };
  const [m, l] = [mug.sku_ids[0]!, lamp.sku_ids[0]!];
  const one = await place('wei', { nickname: 'Sunny', receiver: '李伟', phone: '13811112222', province: '浙江省' }, [
    m,
  ]);
  const two = await place(
    'ann',
    { nickname: '老王', receiver: 'Ann Smith', phone: '13900000000', province: 'Zhejiang' },
    [l],
  );
  await place(
    'both',
    { nickname: 'Zed', receiver: '李伟国', phone: '13700000000', province: '上海' },
    [m, l],
    'alipay',
  );
  await place('cancelled', { nickname: 'Zed', receiver: 'Bo', phone: '13600000000', province: '' }, [m]).then(
    ({ buyer, order }) => shop.call('POST', `/api/v1/orders/${order.id}/cancel`, { token: buyer.token }),
  );
  await shop.call('POST', `/api/v1/orders/${one.order.id}/pay`, { token: one.buyer.token });
  await shop.call('POST', `/api/v1/orders/${two.order.id}/pay`, { token: two.buyer.token });
  await shop.call('PUT', `/admin/api/orders/${two.order.id}/ship`, {
    token: admin,
    body: { company: 'sf', tracking_no: 'SF1' },
  });
  await sql`update orders.orders set created_at = '2026-03-01T09:30:00+08:00' where id = ${made.wei!.id}`;
  await sql`update orders.orders set created_at = '2026-03-02T00:00:00+08:00' where id = ${made.ann!.id}`;
});
afterAll(() => shop.close());

const all = ['ann', 'both', 'cancelled', 'wei'];

describe('the back office finds an order by', () => {
  test.each([
    [
      'nothing at all, also with empty filters',
      '&keyword=&time_start=&amount_min=&province=&pay_method=&has_after_sale=&logistics_company=&time_end=&amount_max=',
      all,
    ],
    ['has_after_sale=false, which is no filter', '&has_after_sale=false', all],
    ['has_after_sale=true', '&has_after_sale=true', []],
    ['status 0, which means all orders', '&status=0', all],
    ['status', '&status=2', ['wei']],
    ['a nickname', '&keyword=sunny', ['wei']],
    ['a part of a Chinese nickname', '&keyword=王', ['ann']],
    ['a receiver of two characters', '&keyword=李伟', ['both', 'wei']],
    ['one character', '&keyword=国', ['both']],
    ['the middle of a name', '&keyword=nn%20sm', ['ann']],
    ['a phone', '&keyword=13811112222', ['wei']],
    ['the end of a phone', '&keyword=2222', ['wei']],
    ['an item title in any case', '&keyword=enamel', ['both', 'cancelled', 'wei']],
    ['a Chinese item title', '&keyword=瓷杯', ['both', 'cancelled', 'wei']],
    ['a per cent sign as a plain character', '&keyword=100%25', ['ann', 'both']],
    ['a keyword without matches', '&keyword=nothing_like_it', []],
    ['an underscore as a plain character', '&keyword=_', []],
    ['an apostrophe', "&keyword='", []],
    ['pay_method', '&pay_method=alipay', ['both']],
    ['a part of the province', '&province=浙江', ['wei']],
    ['province in any case', '&province=zhe', ['ann']],
    ['the carrier of a shipment', '&logistics_company=sf', ['ann']],
    ['another carrier', '&logistics_company=YTO', []],
    ['amount_min', '&amount_min=250', ['ann', 'both']],
    ['amount_max, inclusive', '&amount_max=250', ['ann', 'cancelled', 'wei']],
    ['both amounts', '&amount_min=12.9&amount_max=12.90', ['cancelled', 'wei']],
    ['a day in the time zone of the shop', '&time_start=2026-03-01&time_end=2026-03-01', ['wei']],
    ['a second', '&time_start=2026-03-01T09:30:00&time_end=2026-03-01T09:30:00', ['wei']],
    ['times with another offset', '&time_start=2026-03-01T01:30:00Z&time_end=2026-03-01T16:00:00Z', ['ann', 'wei']],
    ['an empty range', '&time_start=2026-03-03&time_end=2026-03-02', []],
    ['a time and a status', '&time_end=2026-03-31&status=3', ['ann']],
    [
      'several at once',
      '&keyword=mug&amount_max=20&status=2&province=浙&pay_method=wechat&time_start=2026-01-01',
      ['wei'],
    ],
    ['several filters, of which one does not match', '&keyword=mug&status=3', []],
  ])('%s', async (_what, query, expected) => {
    const page = await list(query);
    expect(names(page)).toEqual(expected);
    expect(page.total).toBe(expected.length);
  });

  test('id, order number, and the beginning of an order number', async () => {
    const { id, order_no } = made.ann!;
    expect(names(await list(`&keyword=${order_no}`))).toEqual(['ann']);
    expect(names(await list(`&keyword=${order_no.slice(0, 18)}`))).toContain('ann');
    expect(names(await list(`&keyword=${id}`))).toContain('ann');
  });

  test('a receiver whose address was changed or removed later', async () => {
    const buyer = await shop.shopper();
    const { data: order } = await shop.call('GET', `/admin/api/orders/${made.wei!.id}`, { token: admin });
    const token = await shop.server.tokens.issue({ role: 'user', id: order.user_id, perms: [] });
    const { data: addresses } = await shop.call('GET', '/api/v1/addresses', { token });
    const body = { name: 'Someone Else', phone: '13000000000' };
    await shop.call('PUT', `/api/v1/addresses/${addresses[0].id}`, { token, body });
    expect(names(await list('&keyword=李伟'))).toEqual(['both', 'wei']);
    // The order keeps its receiver, so the new name does not find it.
    expect(names(await list('&keyword=Someone'))).toEqual([]);
    await shop.call('DELETE', `/api/v1/addresses/${addresses[0].id}`, { token });
    expect(names(await list('&keyword=13811112222'))).toEqual(['wei']);
    expect(buyer.id).toBeGreaterThan(0);
  });

  test('a nickname of thousands of shoppers without orders', async () => {
    await shop.database.sql`
      insert into identity.shoppers (nickname) select 'Guest ' || n from generate_series(1, 2500) as n`;
    const { sql } = shop.database;
    const { order_no } = made.both!;
    await sql`update identity.shoppers set nickname = 'Guest of honour'
              where id = (select user_id from orders.orders where order_no = ${order_no})`;
    expect(names(await list('&keyword=guest'))).toEqual(['both']);
  });

  test('an invalid time or amount is refused with the name of the parameter, in both languages', async () => {
    for (const [query, field] of [
      ['time_start=soon', 'time_start'],
      ['time_end=2026-02-30', 'time_end'],
      ['time_start=0000-01-01', 'time_start'],
      ['time_end=9999-12-31T23:59:59-14:00', 'time_end'],
      ['amount_min=-1', 'amount_min'],
      ['amount_max=1e20', 'amount_max'],
      ['status=7', 'status'],
    ] as const)
      for (const lang of ['en', 'zh-CN']) {
        const answer = await shop.call('GET', `/admin/api/orders?${query}`, { token: admin, lang });
        expect(answer.code).toBe(400);
        expect(answer.message).toContain(field);
      }
  });
});

test('a shopper without orders, a page after the last one and page 0 get a list', async () => {
  const past = await shop.call('GET', '/admin/api/orders?page=50', { token: admin });
  expect([past.data.list, past.data.total, past.data.page]).toEqual([[], 4, 50]);
  expect((await shop.call('GET', '/admin/api/orders?page=0', { token: admin })).data.list).toHaveLength(4);
});

test('no audit is violated', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
