import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The contract of decoration, dashboard, reports, announcements, inbox messages, AI images and configuration, field by field. */
let shop: Shop;
let token: string;
let shopper: string;
beforeAll(async () => {
  shop = await openShop({ seed: 'demo' });
  token = await shop.login('admin', 'admin123');
  shopper = await shop.login('demo', 'demo123456');
  const { sku_ids } = await insertProduct(shop.database, { title: 'Contract Mug', price: 1_250, stocks: [3] });
  const place = { token: shopper, body: { address_id: 1, items: [{ sku_id: sku_ids[0] }] } };
  const { data } = await shop.call('POST', '/api/v1/orders', place);
  await shop.call('POST', `/api/v1/orders/${data.id}/pay`, { token: shopper });
  const body = { path: '/products/1', device: 'mobile' };
  await shop.call('POST', '/api/v1/visits', { body, headers: { 'user-agent': 'Mozilla/5.0' } });
});
afterAll(() => shop?.close());

const admin = async (method: string, path: string, body?: unknown, lang = 'en') =>
  shop.call(method, `/admin/api${path}`, { token, lang, ...(body === undefined ? {} : { body }) });
const read = async (path: string, lang?: string) => (await admin('GET', path, undefined, lang)).data;

type Series = { categories: string[]; series: { name: string; data: number[] }[] };
function expectSeries(value: Series, days: number, lines = 1): void {
  expectFields(value, contract.series);
  expect(value.categories).toHaveLength(days);
  expect(value.series).toHaveLength(lines);
  for (const line of value.series) {
    expectFields(line, contract.seriesLine);
    expect(line.data).toHaveLength(days);
    for (const point of line.data) expect(Number.isFinite(point)).toBe(true);
  }
}
function expectPie(value: { name: string; value: number }[], parts: number): void {
  expect(value).toHaveLength(parts);
  for (const part of value) expectFields(part, contract.pie);
}

describe('the dashboard', () => {
  test('has every field of both clients', async () => {
    const data = await read('/dashboard');
    expectFields(data, contract.dashboard);
    expectFields(data.compare, contract.compare);
    expect(data.sales_trend).toHaveLength(30);
    for (const row of data.sales_trend) {
      expectFields(row, contract.salesDay);
      expect(row.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
    expectSeries(data.trend.revenue_7d, 7);
    expectSeries(data.trend.revenue_30d, 30);
    expectSeries(data.trend.order_7d, 7);
    expectPie(data.status_distribution, 6);
    expect(data.hot_products).toHaveLength(1);
    for (const row of data.hot_products) expectFields(row, contract.hotProduct);
    for (const row of data.announcements) expectFields(row, contract.announcement);
    expect(data.announcements.length).toBeGreaterThan(0);
    expect(data.stock_warning_list.length).toBeGreaterThan(0);
    for (const row of data.stock_warning_list) expectFields(row, contract.stockWarning);
    expect(data).toMatchObject({ today_orders: 1, today_sales: 12.5, today_avg_price: 12.5, pending_ship: 1 });
    expect(data.sales_trend.at(-1)).toMatchObject({ orders: 1, sales: 12.5 });
  });

  test('keeps `trend` whatever the range of the chart is', async () => {
    const whole = await read('/dashboard');
    for (const [query, days] of [
      ['range=7d', 7],
      ['range=1w', 7],
      ['range=1m', 30],
      ['start_date=2026-01-01&end_date=2026-01-03', 3],
    ] as const) {
      const data = await read(`/dashboard?${query}`);
      expect([query, data.sales_trend.length]).toEqual([query, days]);
      expect(data.trend).toEqual(whole.trend);
    }
  });
});

describe('the reports', () => {
  test.each([1, 7, 30, 90])('of %i days have every field, and charts of that length', async (days) => {
    const report = (name: string) => read(`/analytics/${name}?days=${days}`);
    const sales = await report('sales');
    expectFields(sales, contract.salesReport);
    expectFields(sales.summary, contract.salesSummary);
    expectSeries(sales.revenue_trend, days);
    expectSeries(sales.order_trend, days);
    for (const day of sales.order_trend.categories) expect(day).toMatch(/^\d\d-\d\d$/);
    expectPie(sales.pay_method_distribution, 3);
    expectSeries(sales.hourly_distribution, 24);
    expect([sales.hourly_distribution.categories.at(0), sales.hourly_distribution.categories.at(-1)]).toEqual([
      ...['00', '23'],
    ]);
    expect(sales.summary).toMatchObject({ gmv: 12.5, order_count: 1, avg_order_value: 12.5 });

    const products = await report('products');
    expectFields(products, contract.productsReport);
    expectFields(products.summary, contract.productsSummary);
    expect(products.summary.active_sku_rate).toBeLessThanOrEqual(1);
    expect(products.sku_ranking).toHaveLength(1);
    for (const row of products.sku_ranking) expectFields(row, contract.rankedSku);
    expectPie(products.category_sales, 1);
    expectPie(products.price_range, 5);
    expectPie(products.inventory_status, 3);

    const customers = await report('customers');
    expectFields(customers, contract.customersReport);
    expectFields(customers.summary, contract.customersSummary);
    expectPie(customers.new_vs_returning, 2);
    expectSeries(customers.order_value_distribution, 5);
    expectSeries(customers.purchase_frequency, 4);
    expect(customers.purchase_frequency.categories).toEqual(['1', '2', '3', '4+']);
    expect(customers.rfm_radar.indicator.map(({ max }: { max: number }) => max)).toEqual([100, 100, 100]);
    expect(customers.rfm_radar.data[0].value).toHaveLength(3);

    const traffic = await report('traffic');
    expectFields(traffic, contract.trafficReport);
    expectFields(traffic.summary, contract.trafficSummary);
    expect(traffic.summary).toMatchObject({ total_pv: 1, total_uv: 1 });
    expectSeries(traffic.pv_uv_trend, days, 2);
    expectPie(traffic.channel_distribution, 5);
    expectPie(traffic.device_distribution, 4);
    expectSeries(traffic.page_stay, 5);

    const conversion = await report('conversion');
    expectFields(conversion, contract.conversionReport);
    expectFields(conversion.summary, contract.conversionSummary);
    expect(conversion.funnel).toHaveLength(4);
    for (const step of conversion.funnel) expectFields(step, contract.funnelStep);
    expect(conversion.funnel[0]).toMatchObject({ count: 1, rate: 100 });
    expectSeries(conversion.step_rates_trend, days, 3);
  });

  test('have 7 days by default, and another period is refused with the periods that there are', async () => {
    expect((await read('/analytics/sales')).revenue_trend.categories).toHaveLength(7);
    expect((await read('/analytics/sales?days=')).revenue_trend.categories).toHaveLength(7);
    expect(await admin('GET', '/analytics/sales?days=5')).toMatchObject({
      status: 200,
      code: 400,
      message: 'days: must be one of 1, 7, 30, 90',
    });
  });

  test('have names in the language of the request', async () => {
    const { funnel } = await read('/analytics/conversion', 'zh-CN');
    for (const { step } of funnel) expect(step).toMatch(chinese);
    const { status_distribution } = await read('/dashboard', 'zh-CN');
    for (const { name } of status_distribution) expect(name).toMatch(chinese);
  });
});

test('the shop and its announcements have every field, and the list is paged', async () => {
  expectFields(await read('/shops/current'), contract.shop);
  const { list, ...rest } = await read('/announcements?page=1&size=1');
  expect([list.length, rest]).toEqual([1, { total: 2, page: 1, size: 1 }]);
  for (const row of list) expectFields(row, contract.announcement);
  expect(await read('/announcements?page=9')).toEqual({ list: [], total: 2, page: 9, size: 20 });
});

describe('inbox messages', () => {
  test('have every field on both sides', async () => {
    const own = await shop.call('GET', '/api/v1/messages', { token: shopper });
    expectFields(own.data, contract.paged);
    expect(own.data.list.length).toBeGreaterThan(0);
    for (const row of own.data.list) expectFields(row, contract.message);
    const { list, ...rest } = await read('/messages');
    expectFields({ list, ...rest }, contract.paged);
    for (const row of list) expectFields(row, contract.adminMessage);
    expectFields((await shop.call('GET', '/api/v1/messages/unread', { token: shopper })).data, contract.unreadByGroup);
    expectFields(await read('/messages/unread-counts'), contract.unreadByGroup);
    expect(await read('/messages?group=im')).toEqual({ list: [], total: 0, page: 1, size: 20 });
  });

  test('are sent by the bodies of both clients', async () => {
    const send = (body: object) => admin('POST', '/messages/send', body);
    const text = { title: 'Opening hours', content: 'From May on' };
    for (const body of [
      { ...text, group: 'marketing', user_id: 0 },
      { ...text, group: 'system' },
      { ...text, group: 'order', user_id: 1 },
    ])
      expect(await send(body)).toMatchObject({ code: 0, data: null });
    expect(
      (await read('/messages?size=3')).list.map((row: Record<string, unknown>) => [row.group, row.user_id]),
    ).toEqual([
      ['order', 1],
      ['system', 0],
      ['marketing', 0],
    ]);
    const [{ id }] = (await read('/messages?size=1')).list;
    expect(await admin('PUT', `/messages/${id}/read`)).toMatchObject({ code: 0, data: null });
    expect(await admin('PUT', '/messages/999999/read')).toMatchObject({ status: 200, code: 404 });
    expect(await shop.call('POST', '/api/v1/messages/read', { token: shopper, body: { ids: [id] } })).toMatchObject({
      code: 0,
      data: null,
    });
  });

  test('the list of the back office has pages of up to 1,000, that of a shopper of up to 50', async () => {
    for (const [size, used] of [
      [1_000, 1_000],
      [1_001, 20],
    ])
      expect((await read(`/messages?size=${size}`)).size).toBe(used);
    for (const [size, used] of [
      [50, 50],
      [51, 20],
    ])
      expect((await shop.call('GET', `/api/v1/messages?size=${size}`, { token: shopper })).data.size).toBe(used);
  });
});

describe('AI images', () => {
  test('models and tasks have every field, and the console may leave out or empty the optional ones', async () => {
    expect(await read('/ai/models')).toEqual([]);
    expect(await read('/ai/tasks')).toEqual({ list: [], total: 0, page: 1, size: 20 });
    expect(await admin('POST', '/ai/generate', { prompt: 'A mug' })).toMatchObject({
      code: 400,
      message: expect.stringContaining('model_id'),
    });
    await admin('POST', '/ai/models', { name: 'Photos', driver: 'openai', api_key: 'sk-contract' });
    const models = await admin('GET', '/ai/models');
    for (const model of models.data) expectFields(model, contract.aiModel);
    expect(models.data).toMatchObject([{ is_default: 1, status: 1, supports_ref_image: 0 }]);
    expect(JSON.stringify(models)).not.toContain('sk-contract');
    for (const [body, fields] of [
      [{ prompt: 'A mug' }, { scene: 'detail', biz_type: 'detail', params: { width: 750, height: 750, count: 3 } }],
      [
        { model_id: '', scene: '', biz_type: '', target_product_id: '', prompt: 'A mug', neg_prompt: '', params: {} },
        { scene: 'detail', biz_type: 'detail', target_product_id: 0 },
      ],
      [
        {
          ...{ model_id: 1, scene: 'carousel', biz_type: 'gallery', target_product_id: 7, prompt: 'A mug' },
          params: { width: 1000, height: 750, count: 1, style: 'illustration' },
        },
        {
          scene: 'carousel',
          biz_type: 'gallery',
          target_product_id: 7,
          params: { width: 1000, style: 'illustration' },
        },
      ],
    ] as const) {
      const { data } = await admin('POST', '/ai/generate', body);
      expectFields(data, contract.aiTask);
      expect(data).toMatchObject({ ...fields, model_id: 1, status: 1, result_urls: null });
      expectFields(await read(`/ai/tasks/${data.id}`), contract.aiTask);
    }
    const { list, total } = await read('/ai/tasks?page=1&size=2');
    expect([list.map(({ id }: { id: number }) => id), total]).toEqual([[3, 2], 3]);
    expect((await read('/ai/tasks?size=1000')).size).toBe(1_000);
    expect(await admin('GET', '/ai/tasks/999')).toMatchObject({ status: 200, code: 404 });
  });
});

describe('decoration', () => {
  test('each client gets the form of components that it reads', async () => {
    const index = (await shop.call('GET', '/api/v1/index/decor')).data;
    expect(Array.isArray(index.components)).toBe(true);
    const named = await shop.call('GET', '/api/v1/decor/index?variant=default');
    expect(named.data).toEqual(index);
    const pc = (await shop.call('GET', '/api/v1/decor/pc')).data;
    expectFields(pc.components, 'pageStyle o, components []');
    expectFields(pc.components.pageStyle, 'background o, content o, surface o');
    for (const page of [index, pc]) expectFields(page, contract.decorPage);
    for (const rows of [await read('/decor/index/variants'), [await read('/decor/index')]])
      for (const row of rows) expectFields(row, `${contract.decorPage}, components json`);
    for (const rows of [await read('/decor/pc/variants'), [await read('/decor/pc')]])
      for (const row of rows) expectFields(row, `${contract.decorPage}, components o`);
    for (const { type } of index.components) expect(typeof type).toBe('string');
  });
});

test('the configuration centre has every field, and values are texts', async () => {
  const schemas = await read('/config/schemas');
  for (const { plugin, fields, ...rest } of schemas) {
    expectFields({ plugin, fields, ...rest }, contract.configSchema);
    const values = await read(`/config/${plugin}`);
    for (const field of fields) {
      expectFields(field, contract.configField);
      expect(['text', 'password', 'textarea', 'number', 'select', 'switch']).toContain(field.type);
      expect(typeof values[field.key]).toBe('string');
      for (const option of field.options ?? []) expectFields(option, 'label s, value s');
    }
    expect(Object.keys(values)).toEqual(fields.map(({ key }: { key: string }) => key));
  }
});
