import { setTimeout as sleep } from 'node:timers/promises';
import { orderStatus } from '@tradepost/orders';
import { type Client, type Login, money, type Story, StoryError } from './story.ts';

/** Finds a product with at least three pieces in stock. Returns two of its SKUs, or one when there is only one. */
export async function findSkus(story: Story, visitor: Client, keyword: string) {
  const found = await story.step(
    `search for "${keyword}"`,
    () => visitor.get('/api/v1/products', { query: { keyword } }),
    (list) => `${list.total} products, first: ${list.list[0]?.title ?? '-'}`,
  );
  const card = found.list.find((product) => product.stock >= 3);
  if (!card) throw new StoryError(`no product matches "${keyword}" with three pieces in stock; try another --keyword`);
  const product = await story.step(
    'open the product',
    () => visitor.get('/api/v1/products/{id}', { path: { id: card.id } }),
    (detail) => `${detail.title}: ${detail.skus.length} SKUs from ${money(detail.price)}, ${detail.stock} pieces`,
  );
  const skus = product.skus.filter((sku) => sku.stock >= 2).slice(0, 2);
  story.expect(skus.length > 0, `${product.title} has no SKU with two pieces left`);
  return skus;
}

/** An external warehouse in asynchronous mode confirms the stock of an order after its payment. */
const warehouseMs = 30_000;

/** Reads a paid order, and again while its stock is pending. */
async function readPaid(shopper: Client, mine: { path: { id: number } }) {
  for (const end = Date.now() + warehouseMs; ; await sleep(250)) {
    const paid = await shopper.get('/api/v1/orders/{id}', mine);
    if (paid.inventory_status !== 'pending') return paid;
    if (Date.now() > end)
      throw new StoryError(
        `the external warehouse has not confirmed the stock of order ${paid.order_no} within ${warehouseMs / 1_000} s; \`tradepost wms tasks list\` says why`,
      );
  }
}

/** A shopper orders the SKUs and pays. */
export async function buy(story: Story, visitor: Client, login: Login, skus: readonly { id: number }[]) {
  const { token } = await story.step(
    `log in as ${login.username}`,
    () => visitor.post('/api/auth/login', { body: login }),
    () => 'token received',
  );
  const shopper = visitor.with({ token });
  await story.step(
    'put it into the cart',
    async () => {
      for (const sku of skus) await shopper.post('/api/v1/cart/add', { body: { sku_id: sku.id, qty: 1 } });
      return shopper.get('/api/v1/cart');
    },
    (cart) => `${cart.length} lines in the cart`,
  );
  const [address] = await story.step(
    'choose the address',
    () => shopper.get('/api/v1/addresses'),
    (list) => (list[0] ? `${list[0].name}, ${list[0].city}` : 'none'),
  );
  if (!address) throw new StoryError(`${login.username} has no address`);
  const order = await story.step(
    'place the order',
    () =>
      shopper.post('/api/v1/orders', {
        body: { address_id: address.id, sku_ids: skus.map((sku) => sku.id), payment_method: 'alipay', remark: 'demo' },
        idempotencyKey: crypto.randomUUID(),
        retry: 2,
      }),
    (placed) => `order ${placed.order_no}, ${money(placed.total_amount)}, stock ${placed.inventory_status}`,
  );
  const mine = { path: { id: order.id } };
  await story.step(
    'pay',
    () => shopper.post('/api/v1/orders/{id}/pay', mine),
    () => 'paid at once',
  );
  await story.step(
    'read the order',
    async () => {
      const paid = await readPaid(shopper, mine);
      story.expect(
        paid.status === orderStatus.paid && paid.inventory_status === 'confirmed',
        `order ${order.id} is ${paid.status_label}, stock ${paid.inventory_status_label}`,
      );
      return paid;
    },
    (paid) => `${paid.status_label}, stock ${paid.inventory_status}`,
  );
  return { shopper, order, address_id: address.id };
}

export type Bought = Awaited<ReturnType<typeof buy>>;
