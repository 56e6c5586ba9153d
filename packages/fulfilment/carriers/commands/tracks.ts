import { isoInZone } from '@tradepost/core';
import type { CommandContext } from '@tradepost/module';
import { selectOrderIdOf } from '@tradepost/orders';
import { timeZone } from '@tradepost/runtime';
import {
  bold,
  type GlobalOptions,
  print,
  printJson,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { trackView } from '../track.ts';
import { type QueriedShipment, selectQueriedShipments, selectTracks } from '../track-store.ts';

type TracksOptions = GlobalOptions & { shipment?: number };

/** Why a shipment has no events or no new ones; null when its last query was answered. */
function syncText({ last_query_at, sync_fail_count, last_error }: QueriedShipment, zone: string): string | null {
  if (!last_query_at) return 'never queried';
  if (sync_fail_count === 0) return null;
  return `last query ${isoInZone(last_query_at, zone)} failed, ${sync_fail_count} in a row: ${last_error || 'the reason is no longer stored'}`;
}

const tracks =
  (context: CommandContext) =>
  async (orderNo: string | undefined, { shipment, ...options }: TracksOptions, command: Command): Promise<void> => {
    if ((orderNo === undefined) === (shipment === undefined))
      command.error('error: give either the number of an order, or --shipment');
    const { shipments, zone } = await context.withRuntime(options, async ({ sql, settings }) => {
      const orderId = orderNo === undefined ? undefined : await selectOrderIdOf(sql, orderNo);
      if (orderNo !== undefined && orderId === undefined) throw new Error(`there is no order ${orderNo}`);
      const found = await selectQueriedShipments(
        sql,
        orderId === undefined ? { shipment_id: shipment! } : { order_id: orderId },
      );
      const of = async ({ id, order_id }: { id: number; order_id: number }) =>
        (await selectTracks(sql, { order_id, shipment_id: id })) ?? [];
      const rows = [];
      for (const one of found) rows.push({ ...one, tracks: await of(one) });
      return { shipments: rows, zone: settings.get(timeZone) };
    });
    if (shipment !== undefined && shipments.length === 0) throw new Error(`there is no shipment ${shipment}`);
    if (options.json)
      return printJson({
        shipments: shipments.map((one) => ({
          ...one,
          last_query_at: one.last_query_at && isoInZone(one.last_query_at, zone),
          tracks: one.tracks.map((node) => trackView(node, zone)),
        })),
      });
    if (shipments.length === 0) return print('the order has no shipment');
    for (const { tracks: nodes, ...shipment } of shipments) {
      const { id, company, tracking_no, logistics_status } = shipment;
      print(bold(`shipment ${id}  ${company} ${tracking_no}  ${logistics_status}`));
      const reason = syncText(shipment, zone);
      if (reason) print(reason);
      if (nodes.length === 0) print('no events');
      else
        print(table(nodes.map((node) => [isoInZone(node.event_time, zone), node.location || '-', node.status_text])));
    }
  };

export function addTracks(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('tracks')
      .argument('[order_no]', 'number of an order')
      .description('show the events on the way of the shipments of an order, newest first')
      .option('--shipment <id>', 'only this shipment', wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .option('--json', 'print them as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost shipments tracks 1772358600000000001\n  $ tradepost shipments tracks --shipment 17 --json\n\n' +
          'A failed last query is shown with its reason.',
      ),
  ).action(tracks(context));
}
