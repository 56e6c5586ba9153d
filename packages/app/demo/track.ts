import type { Bought } from './buy.ts';
import type { Shipped } from './ship.ts';
import type { Story } from './story.ts';

/** The shop asks the carrier where the parcel is, and the shopper reads the answer. */
export async function track(story: Story, { shopper, order }: Bought, { staff, shipment_id }: Shipped) {
  const parcel = { path: { id: order.id, shipment_id } };
  await story.step(
    'ask the carrier',
    () => staff.post('/admin/api/orders/{id}/shipments/{shipment_id}/sync', parcel),
    () => 'answered',
  );
  await story.step(
    'the shopper follows the parcel',
    () => shopper.get('/api/v1/orders/{id}/shipments/{shipment_id}/tracks', parcel),
    (nodes) => (nodes[0] ? `${nodes.length} events, the last: ${nodes[0].status_text}` : 'no events yet'),
  );
}
