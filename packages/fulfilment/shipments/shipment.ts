import { isoInZone, type Labels, type Locale, labelOf } from '@tradepost/core';
import type { ShipmentView } from '@tradepost/orders';
import { companyLabels } from '../carriers/companies.ts';

export type Shipment = {
  id: number;
  order_id: number;
  after_sale_case_id: number;
  delivery_type: 'express' | 'local';
  direction: 'outbound' | 'inbound';
  biz_type: 'initial' | 'reship' | 'return';
  company: string;
  tracking_no: string;
  rider_name: string;
  rider_phone: string;
  channel_provider: string;
  logistics_status: 'pending' | 'shipped' | 'in_transit' | 'signed' | 'exception';
  last_query_at: Date | null;
  last_sync_ok_at: Date | null;
  sync_fail_count: number;
  remark: string;
  shipped_at: Date | null;
  signed_at: Date | null;
  created_by_type: 'admin' | 'user' | 'system';
  created_by_id: number;
  created_at: Date;
  updated_at: Date;
};

/** Who wrote a shipment or moved an after-sale case. */
export const operatorLabels: Labels = {
  user: { en: 'Buyer', 'zh-CN': '买家' },
  admin: { en: 'Merchant', 'zh-CN': '商家' },
  system: { en: 'System', 'zh-CN': '系统' },
};
const deliveryTypes: Labels = {
  express: { en: 'Express', 'zh-CN': '快递' },
  local: { en: 'Local Delivery', 'zh-CN': '同城配送' },
};
const directions: Labels = {
  outbound: { en: 'Outbound', 'zh-CN': '发出' },
  inbound: { en: 'Return', 'zh-CN': '退回' },
};
const bizTypes: Labels = {
  initial: { en: 'Initial', 'zh-CN': '首次发货' },
  reship: { en: 'Reship', 'zh-CN': '补发' },
  return: { en: 'Return', 'zh-CN': '退货' },
};
const logisticsStatuses: Labels = {
  pending: { en: 'Pending Pickup', 'zh-CN': '待揽收' },
  shipped: { en: 'Shipped', 'zh-CN': '已发货' },
  in_transit: { en: 'In Transit', 'zh-CN': '运输中' },
  signed: { en: 'Delivered', 'zh-CN': '已签收' },
  exception: { en: 'Exception', 'zh-CN': '异常' },
};

export function shipmentView(shipment: Shipment, zone: string, locale: Locale): ShipmentView {
  const iso = (at: Date | null) => (at ? isoInZone(at, zone) : null);
  return {
    ...shipment,
    delivery_type_label: labelOf(deliveryTypes, shipment.delivery_type, locale),
    direction_label: labelOf(directions, shipment.direction, locale),
    company_label: labelOf(companyLabels, shipment.company, locale),
    biz_type_label: labelOf(bizTypes, shipment.biz_type, locale),
    logistics_status_label: labelOf(logisticsStatuses, shipment.logistics_status, locale),
    created_by_type_label: labelOf(operatorLabels, shipment.created_by_type, locale),
    last_query_at: iso(shipment.last_query_at),
    last_sync_ok_at: iso(shipment.last_sync_ok_at),
    shipped_at: iso(shipment.shipped_at),
    signed_at: iso(shipment.signed_at),
    created_at: isoInZone(shipment.created_at, zone),
    updated_at: isoInZone(shipment.updated_at, zone),
  };
}
