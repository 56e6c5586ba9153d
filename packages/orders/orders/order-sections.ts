import type { Locale } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import type { Queryable, Statement } from '@tradepost/postgres';
import type { AfterSaleSummary, OrderItemReview, ShipmentView } from '../schemas.ts';

/** The after-sale summary of an order when no module adds one. Without `can_apply: false` the clients would offer an after-sale. */
const noAfterSale: AfterSaleSummary = {
  in_progress_count: 0,
  has_open_case: false,
  latest_case_id: 0,
  latest_status: '',
  latest_status_label: '',
  can_apply: false,
};

/** The fields of an order's answer that other packages fill. */
export type OrderAdditions = {
  /** Newest first. */
  shipments: ShipmentView[];
  latest_shipment?: ShipmentView;
  after_sale_summary: AfterSaleSummary;
  /** Whether the order has or had an after-sale case. Only the back office sees it. */
  has_after_sale: boolean;
};

/** The fields that one package adds to the answers of orders. */
export type OrderSection = {
  /** The number of statements of one `load`. Default: 1. */
  readonly statements?: number;
  /** Loads the fields of many orders in a fixed number of statements, by order id. An order without data may be absent. */
  load(orderIds: readonly number[], locale: Locale): Promise<ReadonlyMap<number, Partial<OrderAdditions>>>;
};

export const orderSections = defineRegistry<OrderSection>('orders.sections');

/** A filter that one package adds to the list of orders in the back office. */
export type OrderFilter = {
  /** The query parameter of the filter. */
  readonly field: 'logistics_company' | 'has_after_sale';
  /** The matching orders, each once, newest first: a relation with the column order_id. The value of has_after_sale is `true`. */
  matching(sql: Queryable, value: string): Statement;
};

export const orderFilters = defineRegistry<OrderFilter>('orders.filters');

/** The fields of an order line's answer that other packages fill. */
export type OrderItemAdditions = { review?: OrderItemReview };

/** The fields that one package adds to the lines of orders. */
export type OrderItemSection = {
  /** Loads the fields of many lines in one statement, by line id. A line without data may be absent. */
  load(
    orderItemIds: readonly number[],
    locale: Locale,
    fileUrl: FileUrl,
  ): Promise<ReadonlyMap<number, OrderItemAdditions>>;
};
/** Returns the absolute address of a stored file. */
export type FileUrl = (path: string) => string;

export const orderItemSections = defineRegistry<OrderItemSection>('orders.item_sections');

/** The sections that other packages add to the answer of an order. */
export type OrderAnswerSections = {
  readonly orders: readonly OrderSection[];
  readonly items: readonly OrderItemSection[];
};

/** The number of statements that these sections send for an answer with any number of orders. */
export const statementsOf = (sections: readonly OrderSection[]): number =>
  sections.reduce((sum, { statements = 1 }) => sum + statements, 0);

/** The additions of an order that was never paid: it has no shipment and no case. */
export const noAdditions = (): OrderAdditions => ({
  shipments: [],
  after_sale_summary: noAfterSale,
  has_after_sale: false,
});

/** Loads all sections of these orders, by order id. Every order has an entry. Without orders no statement is sent. */
export async function loadAdditions(
  sections: readonly OrderSection[],
  orderIds: readonly number[],
  locale: Locale,
): Promise<ReadonlyMap<number, OrderAdditions>> {
  if (orderIds.length === 0) return new Map();
  const loaded = await Promise.all(sections.map((section) => section.load(orderIds, locale)));
  return new Map(orderIds.map((id) => [id, Object.assign(noAdditions(), ...loaded.map((byOrder) => byOrder.get(id)))]));
}

/** Loads all sections of these lines, by line id. */
export async function loadItemAdditions(
  sections: readonly OrderItemSection[],
  orderItemIds: readonly number[],
  locale: Locale,
  fileUrl: FileUrl,
): Promise<ReadonlyMap<number, OrderItemAdditions>> {
  if (orderItemIds.length === 0) return new Map();
  const loaded = await Promise.all(sections.map((section) => section.load(orderItemIds, locale, fileUrl)));
  return new Map(orderItemIds.map((id) => [id, Object.assign({}, ...loaded.map((byItem) => byItem.get(id)))]));
}
