import { createClient, NoAnswerError, RefusalError } from '@tradepost/client';
import { orderStatus } from '@tradepost/orders';

export type Step = { step: string; ms: number; result: string };

/** A step failed, or its result is not the expected one. */
class StoryError extends Error {
  override name = 'StoryError';
}

/** Turns an error of the client into a message for the operator. */
function readableError(error: unknown): unknown {
  if (error instanceof RefusalError)
    return new StoryError(`${error.method} ${error.path}: ${error.message} (code ${error.code})`);
  if (error instanceof NoAnswerError && error.reason === 'unreachable')
    return new StoryError(`${error.message}; run \`tradepost start\` first`);
  return error;
}

const money = (value: number) => value.toFixed(2);

/** Runs and records steps. */
class Story {
  readonly steps: Step[] = [];
  readonly #onStep: (step: Step) => void;

  constructor(onStep: (step: Step) => void) {
    this.#onStep = onStep;
  }

  async step<T>(step: string, act: () => Promise<T>, result: (value: T) => string): Promise<T> {
    const begun = performance.now();
    const value = await act().catch((error: unknown) => {
      throw readableError(error);
    });
    const ended = { step, ms: Math.round((performance.now() - begun) * 10) / 10, result: result(value) };
    this.steps.push(ended);
    this.#onStep(ended);
    return value;
  }

  expect(condition: boolean, what: string): void {
    if (!condition) throw new StoryError(what);
  }
}

type Client = ReturnType<typeof createClient>;
type Login = { username: string; password: string };

/** Finds a product with at least three pieces in stock. Returns two of its SKUs, or one when there is only one. */
async function findSkus(story: Story, visitor: Client, keyword: string) {
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

/** A shopper orders the SKUs and pays. */
async function buy(story: Story, visitor: Client, login: Login, skus: readonly { id: number }[]) {
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
      const paid = await shopper.get('/api/v1/orders/{id}', mine);
      story.expect(
        paid.status === orderStatus.paid && paid.inventory_status === 'confirmed',
        `order ${order.id} is ${paid.status_label}`,
      );
      return paid;
    },
    (paid) => `${paid.status_label}, stock ${paid.inventory_status}`,
  );
  return { shopper, order };
}

/** An administrator ships the order, and the shopper sees it. */
async function ship(story: Story, visitor: Client, login: Login, { shopper, order }: Awaited<ReturnType<typeof buy>>) {
  const mine = { path: { id: order.id } };
  const { token } = await story.step(
    `log in as ${login.username}`,
    () => visitor.post('/admin/api/auth/login', { body: login }),
    () => 'token received',
  );
  const staff = visitor.with({ token });
  await story.step(
    'find it among the orders to ship',
    async () => {
      const list = await staff.get('/admin/api/orders', { query: { status: orderStatus.paid } });
      story.expect(
        list.list.some((row) => row.id === order.id),
        `order ${order.id} is not in the first page to ship`,
      );
      return list;
    },
    (list) => `${list.total} to ship`,
  );
  const tracking_no = `SF${order.order_no.slice(-12)}`;
  await story.step(
    'ship it',
    () =>
      staff.put('/admin/api/orders/{id}/ship', {
        ...mine,
        body: { ship_type: 'initial', company: 'SF', tracking_no, remark: 'demo' },
      }),
    () => `SF ${tracking_no}`,
  );
  await story.step(
    'the shopper sees the shipment',
    async () => {
      const shipped = await shopper.get('/api/v1/orders/{id}', mine);
      story.expect(
        shipped.status === orderStatus.shipped && shipped.tracking_no === tracking_no,
        `order ${order.id} is ${shipped.status_label}`,
      );
      return shipped;
    },
    (shipped) => `${shipped.status_label}, ${shipped.latest_shipment?.company} ${shipped.latest_shipment?.tracking_no}`,
  );
}

/**
 * Runs a purchase over HTTP against a running server: a shopper finds a product, orders it and pays, and an administrator
 * ships it. Calls `onStep` after each step. Throws StoryError at the first step that fails.
 */
export async function runStory(options: {
  url: string;
  shopper: Login;
  administrator: Login;
  keyword: string;
  onStep: (step: Step) => void;
}): Promise<Step[]> {
  const story = new Story(options.onStep);
  const visitor = createClient({ url: options.url, lang: 'en' });
  const skus = await findSkus(story, visitor, options.keyword);
  const bought = await buy(story, visitor, options.shopper, skus);
  await ship(story, visitor, options.administrator, bought);
  return story.steps;
}
