import type { TestData } from '@tradepost/testing/test-data';

/** The second shipment is signed, with two events and the query that has found them. */
const rows = `
  update fulfilment.shipments set channel_provider = 'kuaidi100', company = 'SF', logistics_status = 'signed', signed_at = now(),
    last_query_at = now(), last_sync_ok_at = now(), next_query_at = null where tracking_no = 'T9';
  insert into fulfilment.shipment_tracks (shipment_id, provider, track_hash, status_code, status_text, event_time, location, raw_payload)
    select id, 'kuaidi100', md5(n::text), '', 'Event ' || n, now(), '', '{}'
    from fulfilment.shipments, generate_series(1, 2) as n where tracking_no = 'T9';
  insert into fulfilment.shipment_sync_logs (shipment_id, provider, success, cost_ms)
    select id, 'kuaidi100', true, 40 from fulfilment.shipments where tracking_no = 'T9';`;

export const carrierData: TestData = {
  rows,
  auditCases: [
    ['fulfilment.track_orphans', 'of no shipment', `update fulfilment.shipment_tracks set shipment_id = 999999`],
    [
      'fulfilment.signed_at',
      'signed without a time',
      `update fulfilment.shipments set signed_at = null where tracking_no = 'T9'`,
    ],
    [
      'fulfilment.signed_at',
      'a time without a signature',
      `update fulfilment.shipments set signed_at = now() where tracking_no = 'T3'`,
    ],
    [
      'fulfilment.channels',
      'a channel without a query',
      `update fulfilment.shipments set channel_provider = 'kdniao' where tracking_no = 'T3'`,
    ],
    [
      'fulfilment.channels',
      'a successful query without a channel',
      `update fulfilment.shipments set channel_provider = '' where tracking_no = 'T9'`,
    ],
  ],
  makers: {
    // Shipments of the newest order of the owner, which a path with both ids names. Their carrier service refuses
    // connections, so a sync is tried and fails.
    shipments: async ({ shop, sql, owner, make, nextNumber }, count, options) => {
      const { settings } = shop.server.runtime;
      const account = { api_url: 'http://127.0.0.1:1/query', customer: 'test', key: 'test' };
      for (const [name, value] of Object.entries(account)) await settings.set(`logistics_kuaidi100.${name}`, value);
      const newest = () => sql<{ id: number }[]>`
        select id from orders.orders where user_id = ${owner.id} order by id desc limit 1`;
      if ((await newest()).length === 0) await make('orders', 1, options);
      const [order] = await newest();
      const shipped = await sql<{ id: number }[]>`
        insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, company, tracking_no, logistics_status, shipped_at)
        select ${order!.id}, 'express', 'inbound', 'return', 'SF', ${`M${nextNumber()}-`} || n, 'shipped', now()
        from generate_series(1, ${count}) as n returning id`;
      await sql`
        insert into fulfilment.shipment_tracks (shipment_id, provider, track_hash, status_code, status_text, event_time, location, raw_payload)
        select id, 'kuaidi100', md5(n::text), '', 'Event ' || n, now(), '', '{}'
        from unnest(${shipped.map(({ id }) => id)}::bigint[]) as id, generate_series(1, ${options.large ? 50 : 1}) as n`;
      return shipped.map(({ id }) => id);
    },
  },
};
