import { setTimeout as sleep } from 'node:timers/promises';
import { RefusalError } from '@tradepost/client';
import type { Bought } from './buy.ts';
import type { Shipped } from './ship.ts';
import type { Story } from './story.ts';

/** How often the events are read, and the pause between two reads. */
const reads = 50;
const pauseMs = 100;

/** The shop asks the carrier where the parcel is, and the shopper reads the answer. */
export async function track(story: Story, { shopper, order }: Bought, { staff, shipment_id }: Shipped) {
  const parcel = { path: { id: order.id, shipment_id } };
  const refused = await story.step(
    'ask the carrier',
    () =>
      staff.post('/admin/api/orders/{id}/shipments/{shipment_id}/sync', parcel).then(
        () => null,
        (error: unknown) => {
          // A shop without an account of a carrier service refuses. A fault of the shop has the HTTP status 500.
          if (error instanceof RefusalError && error.status === 200) return error.message;
          throw error;
        },
      ),
    (reason) => reason ?? 'answered; in a demo shop by a simulated carrier service',
  );
  if (refused !== null) return;
  await story.step(
    'the shopper follows the parcel',
    async () => {
      // A job queries each new shipment too. While it does, a sync by hand leaves the shipment to it.
      for (let read = 1; ; read += 1) {
        const nodes = await shopper.get('/api/v1/orders/{id}/shipments/{shipment_id}/tracks', parcel);
        if (nodes.length > 0 || read === reads) return nodes;
        await sleep(pauseMs);
      }
    },
    (nodes) => (nodes[0] ? `${nodes.length} events, the last: ${nodes[0].status_text}` : 'no events yet'),
  );
}
