import { instantInZone, toMinor } from '@tradepost/core';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { type AdminOrderFilter, inAll, selectProvinces } from '../orders/order-page-store.ts';
import type { OrderFilter } from '../orders/order-sections.ts';
import { orderStatusOf } from '../orders/order-status.ts';
import type { AdminOrderFilterQuery } from './filter-schemas.ts';
import { resolveKeyword } from './order-search-store.ts';

/** Returns the function that makes the filter of a query of the back office. It refuses an invalid time. */
export function openAdminFilter({ sql, settings }: Runtime, filters: readonly OrderFilter[]) {
  /** No order matches when no package adds a filter for the field. */
  const matching = (field: OrderFilter['field'], value: string) =>
    filters.find((filter) => filter.field === field)?.matching(sql, value) ?? sql`(select 0::bigint as order_id)`;
  const momentOf = (field: string, text: string | undefined, edge: 'start' | 'end') => {
    if (!text) return null;
    const at = instantInZone(text, settings.get(timeZone), edge);
    if (!at) throw orderErrors.invalid_time({ field });
    return at;
  };
  return async (query: AdminOrderFilterQuery): Promise<AdminOrderFilter> => {
    const { pay_method, amount_min, amount_max, province, logistics_company, has_after_sale, keyword } = query;
    const only = [
      ...(logistics_company ? [matching('logistics_company', logistics_company)] : []),
      ...(has_after_sale ? [matching('has_after_sale', 'true')] : []),
    ];
    return {
      status: orderStatusOf(query.status ?? 0),
      pay_method: pay_method ?? null,
      time_start: momentOf('time_start', query.time_start, 'start'),
      time_end: momentOf('time_end', query.time_end, 'end'),
      amount_min: amount_min === undefined ? null : toMinor(amount_min),
      amount_max: amount_max === undefined ? null : toMinor(amount_max),
      provinces: province ? await selectProvinces(sql, province) : null,
      restrictedTo: only.length > 0 ? inAll(sql, only) : null,
      keyword: keyword ? await resolveKeyword(sql, keyword) : null,
    };
  };
}
