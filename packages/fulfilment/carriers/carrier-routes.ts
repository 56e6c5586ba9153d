import { defineRoute, id, list, nothing, type Route, timestamp } from '@tradepost/http';
import { selectOrder } from '@tradepost/orders';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { shipmentErrors } from '../shipments/errors.ts';
import type { CarrierRouter } from './carrier-router.ts';
import { companies, companyCodes, companyOf } from './companies.ts';
import { carrierErrors } from './errors.ts';
import { maxTracks } from './limits.ts';
import type { SyncDeps } from './sync/sync-deps.ts';
import { syncShipments } from './sync/sync-shipments.ts';
import { trackView } from './track.ts';
import { type SyncTarget, selectSyncTarget, selectTracks } from './track-store.ts';

const shipmentParams = z.object({ id: id(), shipment_id: id() });

const trackSchema = z
  .object({
    id: id(),
    shipment_id: id(),
    provider: z.string().meta({ description: 'Driver that reported it', examples: ['kuaidi100'] }),
    track_hash: z.string().meta({ examples: ['5f3a0e0b7c3f0a3c1d7a4c2f7f3c9a1f0c6b8d1e'] }),
    status_code: z.string().meta({ examples: ['签收'] }),
    status_text: z.string().meta({ examples: ['已签收，签收人：本人'] }),
    event_time: timestamp(),
    location: z.string().meta({ examples: ['杭州市'] }),
    raw_payload: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The event as the carrier service sent it', examples: [{ context: '已签收' }] }),
  })
  .meta({ id: 'ShipmentTrack' });
const tracksSchema = list(trackSchema, maxTracks).meta({ description: 'newest event first' });

const companySchema = z.object({
  code: z.string().meta({ examples: ['SF'] }),
  label: z.string().meta({ examples: ['SF Express'] }),
});

/** The refusal of a sync of this shipment by hand; null when its carrier can be queried. */
function syncRefusal(router: CarrierRouter, { tracking_no, company, channel_provider }: SyncTarget): Error | null {
  const refusal = router.refusal(channel_provider);
  if (refusal) return refusal;
  if (tracking_no === '') return carrierErrors.no_tracking_no();
  if (company === '') return carrierErrors.no_company();
  if (companyOf(company)) return null;
  return carrierErrors.company_not_synced({ company, known: companyCodes.join(', ') });
}

export function carrierRoutes(runtime: Runtime, deps: SyncDeps): Route[] {
  const { sql, settings } = runtime;
  const tracksOf = async (of: { order_id: number; shipment_id: number }) => {
    const tracks = await selectTracks(sql, of);
    if (!tracks) throw carrierErrors.shipment_not_found();
    const zone = settings.get(timeZone);
    return tracks.map((track) => trackView(track, zone));
  };
  return [
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/:id/shipments/:shipment_id/sync',
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Query the carrier of a shipment now',
      description:
        'A query that fails is recorded in sync_fail_count and answers null too. A local delivery has no carrier: nothing happens.',
      params: shipmentParams,
      response: nothing,
      refuses: [
        carrierErrors.shipment_not_found,
        carrierErrors.sync_disabled,
        carrierErrors.sync_not_configured,
        carrierErrors.no_tracking_no,
        carrierErrors.no_company,
        carrierErrors.company_not_synced,
      ],
      repeat: 'recorded',
      statements: 7,
      async handle({ params, write }) {
        const target = await selectSyncTarget(sql, { order_id: params.id, shipment_id: params.shipment_id });
        if (!target) throw carrierErrors.shipment_not_found();
        if (target.delivery_type === 'local') return write(async () => null);
        const refusal = syncRefusal(deps.router, target);
        if (refusal) throw refusal;
        await syncShipments(deps, [params.shipment_id], write, { byHand: true });
        return null;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/orders/:id/shipments/:shipment_id/tracks',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'Events on the way of a shipment, newest first',
      params: shipmentParams,
      response: tracksSchema,
      refuses: [carrierErrors.shipment_not_found],
      statements: 1,
      handle: ({ params }) => tracksOf({ order_id: params.id, shipment_id: params.shipment_id }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/orders/:id/shipments/:shipment_id/tracks',
      auth: 'shopper',
      tag: 'Orders',
      summary: 'Events on the way of a shipment of your order, newest first',
      params: shipmentParams,
      response: tracksSchema,
      refuses: [shipmentErrors.order_not_found, carrierErrors.shipment_not_found],
      statements: 2,
      async handle({ params, caller }) {
        const order = await selectOrder(sql, params.id, caller.id);
        if (!order) throw shipmentErrors.order_not_found();
        return tracksOf({ order_id: order.id, shipment_id: params.shipment_id });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/delivery/companies',
      auth: 'staff',
      tag: 'Orders (admin)',
      summary: 'Carrier companies whose shipments can be tracked',
      response: list(companySchema, companies.length),
      statements: 0,
      handle: ({ locale }) => companies.map((company) => ({ code: company.code, label: company[locale] })),
    }),
  ];
}
