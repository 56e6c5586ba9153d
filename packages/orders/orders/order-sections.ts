import type { Locale } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import type { Queryable, Statement } from '@tradepost/postgres';
import type { ShipmentView } from '../schemas.ts';
import { noAfterSale } from './order.ts';

/** The fields of an order's answer that other packages fill. */
export type OrderAdditions = {
  /** Newest first. */
  shipments: ShipmentView[];
  latest_shipment?: ShipmentView;
  after_sale_summary: typeof noAfterSale;
};

/** The fields that one package adds to the answers of orders. */
export type OrderSection = {
  /** Loads the fields of many orders in one statement, by order id. An order without data may be absent. */
  load(orderIds: readonly number[], locale: Locale): Promise<ReadonlyMap<number, Partial<OrderAdditions>>>;
};

export const orderSections = defineRegistry<OrderSection>('orders.sections');

/** A filter that one package adds to the list of orders in the back office. */
export type OrderFilter = {
  /** The query parameter of the filter. */
  readonly field: 'logistics_company';
  /** The matching orders, each once, newest first: a relation with the column order_id. */
  matching(sql: Queryable, value: string): Statement;
};

export const orderFilters = defineRegistry<OrderFilter>('orders.filters');

/** Loads all sections of these orders, by order id. Every order has an entry. */
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
