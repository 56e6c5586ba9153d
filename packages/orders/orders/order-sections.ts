import type { Locale } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import type { Queryable, Statement } from '@tradepost/postgres';
import type { ShipmentView } from '../schemas.ts';
import { noAfterSale } from './order.ts';

/** The parts of an order's answer that other packages fill. */
export type OrderAdditions = {
  /** Newest first. */
  shipments: ShipmentView[];
  latest_shipment?: ShipmentView;
  after_sale_summary: typeof noAfterSale;
};

/** One package's part of the answers of orders. */
export type OrderSection = {
  /** Loads the part of many orders at once, by order id; orders without one may be missing. One statement, however many orders. */
  load(orderIds: readonly number[], locale: Locale): Promise<ReadonlyMap<number, Partial<OrderAdditions>>>;
};

export const orderSections = defineRegistry<OrderSection>('orders.sections');

/** One package's filter of the back office's list of orders. */
export type OrderFilter = {
  /** The query parameter that it serves. */
  readonly field: 'logistics_company';
  /** The orders that match, each once, newest first: a relation with the column order_id. */
  matching(sql: Queryable, value: string): Statement;
};

export const orderFilters = defineRegistry<OrderFilter>('orders.filters');

/** The additions of these orders by id, from all sections at once. Every order has an entry. */
export async function loadAdditions(
  sections: readonly OrderSection[],
  orderIds: readonly number[],
  locale: Locale,
): Promise<ReadonlyMap<number, OrderAdditions>> {
  const loaded = await Promise.all(sections.map((section) => section.load(orderIds, locale)));
  return new Map(
    orderIds.map((id) => {
      const additions: OrderAdditions = { shipments: [], after_sale_summary: noAfterSale };
      return [id, Object.assign(additions, ...loaded.map((byOrder) => byOrder.get(id)))];
    }),
  );
}
