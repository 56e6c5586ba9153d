import { instantInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { selectEndpoints } from '../endpoints/endpoint-store.ts';
import { webhookErrors } from '../errors.ts';
import { deliveryDetail, deliveryQuery, deliverySchema, replayBody, replayResult } from '../schemas.ts';
import { attemptView, deliveryView } from '../views.ts';
import { selectDeliveries, selectDelivery } from './delivery-list-store.ts';
import { replayDeliveries } from './replay-deliveries.ts';

const shared = { auth: 'staff', permission: 'system:config', tag: 'Webhooks' } as const;

export function deliveryRoutes(runtime: Runtime): Route[] {
  const { sql, settings } = runtime;
  const zone = () => settings.get(timeZone);
  const momentOf = (field: string, given: string | undefined): Date | undefined => {
    if (!given) return undefined;
    const at = instantInZone(given, zone(), 'start');
    if (!at) throw webhookErrors.invalid_moment({ field });
    return at;
  };
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/webhooks/deliveries',
      summary: 'Deliveries to webhook endpoints, the newest event first; counted up to 10000',
      query: deliveryQuery,
      response: pagedOf(deliverySchema),
      statements: 1,
      async handle({ query }) {
        const paging = pagingOf(query);
        const filter = { endpoint_id: query.endpoint_id, status: query.status, kind: query.type };
        const { rows, total } = await selectDeliveries(sql, filter, paging);
        return paged(
          rows.map((row) => deliveryView(row, zone())),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/webhooks/deliveries/:id',
      summary: 'One delivery with its body and its attempts',
      params: idParams,
      response: deliveryDetail,
      refuses: [webhookErrors.delivery_not_found],
      statements: 2,
      async handle({ params }) {
        const row = await selectDelivery(sql, params.id);
        if (!row) throw webhookErrors.delivery_not_found();
        const log = row.log.map((attempt) => attemptView(attempt, zone()));
        return { ...deliveryView(row, zone()), body: row.body, log };
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/admin/api/webhooks/endpoints/:id/replay',
      summary: 'Send ended deliveries of an endpoint again, with the same ids and all attempts',
      params: idParams,
      body: replayBody,
      response: replayResult,
      refuses: [webhookErrors.endpoint_not_found, webhookErrors.invalid_moment, webhookErrors.nothing_to_replay],
      repeat: 'recorded',
      statements: 5,
      async handle({ params, body, write }) {
        const { failed, delivery_ids: ids } = body;
        const [since, until] = [momentOf('since', body.since), momentOf('until', body.until)];
        if (!failed && !since && ids.length === 0) throw webhookErrors.nothing_to_replay();
        const [endpoint] = await selectEndpoints(sql, [params.id]);
        if (!endpoint) throw webhookErrors.endpoint_not_found();
        const filter = { failed, since, until, after: body.after_event_id, ids: ids.length > 0 ? ids : undefined };
        return write((tx) => replayDeliveries(tx, params.id, filter, runtime.now()));
      },
    }),
  ];
}
