import { type CarrierSimulator, demoAccounts } from '@tradepost/carrier-simulator';
import { createStaff } from '@tradepost/identity';
import { insertProduct, type Shop } from '@tradepost/testing/shop';

/** The settings of a shop that queries both services of the simulator. */
export const carrierSettings = (
  simulator: CarrierSimulator,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => ({
  'logistics_kuaidi100.api_url': simulator.apiUrl('kuaidi100'),
  'logistics_kuaidi100.customer': demoAccounts.kuaidi100.customer,
  'logistics_kuaidi100.key': demoAccounts.kuaidi100.key,
  'logistics_kdniao.api_url': simulator.apiUrl('kdniao'),
  'logistics_kdniao.ebusiness_id': demoAccounts.kdniao.ebusinessId,
  'logistics_kdniao.api_key': demoAccounts.kdniao.apiKey,
  ...more,
});

type Parcel = { order_id: number; shipment_id: number };

/** Ships orders of one shopper over HTTP. */
export async function openCarrierShop(shop: Shop) {
  const { sql } = shop.database;
  const staffId = await createStaff(sql, { username: 'shipper', password: 'shipper-secret' });
  const staff = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: ['*'] });
  const buyer = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { stocks: [100_000] });

  const must = async (method: string, path: string, token: string, body?: unknown) => {
    const answer = await shop.call(method, path, { token, body });
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.message}`);
    return answer.data;
  };
  const paidOrder = async (): Promise<number> => {
    const body = { address_id: buyer.address_id, items: [{ sku_id: sku_ids[0] }] };
    const { id } = await must('POST', '/api/v1/orders', buyer.token, body);
    await must('POST', `/api/v1/orders/${id}/pay`, buyer.token);
    return id;
  };
  const shipmentOf = async ({ order_id, shipment_id }: Parcel, lang = 'en') => {
    const order = await shop.call('GET', `/admin/api/orders/${order_id}?lang=${lang}`, { token: staff });
    return order.data.shipments.find((one: { id: number }) => one.id === shipment_id);
  };
  return {
    ...{ staff, buyer, shipmentOf },
    /** Ships a new order. */
    async ship(body: Record<string, unknown>): Promise<Parcel> {
      const order_id = await paidOrder();
      await must('PUT', `/admin/api/orders/${order_id}/ship`, staff, body);
      const { latest_shipment } = await must('GET', `/admin/api/orders/${order_id}`, staff);
      return { order_id, shipment_id: latest_shipment.id };
    },
    /** Inserts `count` shipments that are on their way. Returns their tracking numbers. */
    async insertShipments(count: number, prefix: string): Promise<string[]> {
      const order_id = await paidOrder();
      const rows = await sql<{ tracking_no: string }[]>`
        insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, company, tracking_no, logistics_status, shipped_at)
        select ${order_id}, 'express', 'inbound', 'return', 'ZTO', ${prefix} || n, 'shipped', now()
        from generate_series(1, ${count}) as n returning tracking_no`;
      return rows.map((row) => row.tracking_no);
    },
    sync: ({ order_id, shipment_id }: Parcel) =>
      shop.call('POST', `/admin/api/orders/${order_id}/shipments/${shipment_id}/sync`, { token: staff }),
    tracks: ({ order_id, shipment_id }: Parcel, token = staff) => {
      const root = token === staff ? '/admin/api' : '/api/v1';
      return shop.call('GET', `${root}/orders/${order_id}/shipments/${shipment_id}/tracks`, { token });
    },
    logs: (shipment_id: number) => sql<
      { provider: string; success: boolean; error_code: string; error: string; cost_ms: number }[]
    >`
      select provider, success, error_code, error, cost_ms from fulfilment.shipment_sync_logs
      where shipment_id = ${shipment_id} order by id`,
  };
}
export type CarrierShop = Awaited<ReturnType<typeof openCarrierShop>>;
