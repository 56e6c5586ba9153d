import { isoInZone } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { type EventKind, type EventReader, type OutboxEvent, type Runtime, timeZone } from '@tradepost/runtime';
import { insertDeliveries } from './delivery-store.ts';
import { lockToAdd } from './order-store.ts';
import { wireDataOf } from './wire-data.ts';

/** The same at every attempt and at every endpoint, so that a receiver counts an event once. */
export const webhookId = (eventId: number): string => `evt_${eventId}`;

/** Writes a delivery for each event and each endpoint that wants it, with the body as it will be sent. */
export function webhookReader(
  { settings, now }: Pick<Runtime, 'settings' | 'now'>,
  kinds: readonly EventKind[],
): EventReader {
  const wireData = wireDataOf(kinds);
  const bodyOf = ({ id, name, data, occurred_at }: OutboxEvent): string =>
    JSON.stringify({
      ...{ id: webhookId(id), type: name, timestamp: isoInZone(occurred_at, settings.get(timeZone)) },
      data: wireData(name, data),
    });
  return {
    name: 'webhooks',
    kinds: null,
    async read(tx: Transaction, events) {
      await lockToAdd(tx);
      const rows = events.map((event) => ({ ...event, data: undefined, body: bodyOf(event) }));
      await insertDeliveries(tx, rows, now());
    },
  };
}
