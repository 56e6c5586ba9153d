import { orderStatus } from '@tradepost/orders';
import type { Bought } from './buy.ts';
import type { Story } from './story.ts';

/** The shopper reviews every line, which completes the order. */
export async function review(story: Story, { shopper, order }: Bought) {
  const mine = { path: { id: order.id } };
  const form = await story.step(
    'open the review form',
    () => shopper.get('/api/v1/orders/{id}/review', mine),
    ({ options }) => `${options.length} lines to review`,
  );
  await story.step(
    'review every line',
    () =>
      shopper.post('/api/v1/orders/{id}/review', {
        ...mine,
        body: {
          mode: 'create',
          logistics_score: 5,
          items: form.options.map(({ order_item_id }) => ({
            order_item_id,
            product_score: 5,
            content: 'As described, well packed.',
            images: [],
          })),
        },
      }),
    () => '5 of 5',
  );
  await story.step(
    'the order is completed',
    async () => {
      const completed = await shopper.get('/api/v1/orders/{id}', mine);
      story.expect(completed.status === orderStatus.completed, `order ${order.id} is ${completed.status_label}`);
      return completed;
    },
    ({ status_label }) => status_label,
  );
}
