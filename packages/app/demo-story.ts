import { createClient, NoAnswerError, RefusalError } from '@tradepost/client';

export type Step = { step: string; ms: number; result: string };

/** A step of the story that did not go as it must. */
class StoryError extends Error {
  override name = 'StoryError';
}

/** What stopped the story, in its own words. */
function told(error: unknown): unknown {
  if (error instanceof RefusalError)
    return new StoryError(`${error.method} ${error.path}: ${error.message} (code ${error.code})`);
  if (error instanceof NoAnswerError && error.reason === 'unreachable')
    return new StoryError(`${error.message}; run \`tradepost start\` first`);
  return error;
}

const money = (value: number) => value.toFixed(2);

/**
 * The shop's main job over HTTP against a running server: a shopper finds a product, orders it and pays, an
 * administrator ships it. Each step is told as it ends; the first that fails ends the story with StoryError.
 */
export async function tellStory(options: {
  url: string;
  shopper: { username: string; password: string };
  administrator: { username: string; password: string };
  keyword: string;
  onStep: (step: Step) => void;
}): Promise<Step[]> {
  const { url, onStep } = options;
  const steps: Step[] = [];
  const tell = async <T>(step: string, act: () => Promise<T>, result: (value: T) => string): Promise<T> => {
    const begun = performance.now();
    const value = await act().catch((error: unknown) => {
      throw told(error);
    });
    const ended = { step, ms: Math.round((performance.now() - begun) * 10) / 10, result: result(value) };
    steps.push(ended);
    onStep(ended);
    return value;
  };
  const expect = (condition: boolean, what: string) => {
    if (!condition) throw new StoryError(what);
  };
  const visitor = createClient({ url, lang: 'en' });

  const found = await tell(
    `search for "${options.keyword}"`,
    () => visitor.get('/api/v1/products', { query: { keyword: options.keyword } }),
    (list) => `${list.total} products, first: ${list.list[0]?.title ?? '-'}`,
  );
  const card = found.list.find((product) => product.stock >= 3);
  if (!card)
    throw new StoryError(`no product matches "${options.keyword}" with three pieces in stock; try another --keyword`);
  const product = await tell(
    'open the product',
    () => visitor.get('/api/v1/products/{id}', { path: { id: card.id } }),
    (detail) => `${detail.title}: ${detail.skus.length} SKUs from ${money(detail.price)}, ${detail.stock} pieces`,
  );
  const skus = product.skus.filter((sku) => sku.stock >= 2).slice(0, 2);
  expect(skus.length > 0, `${product.title} has no SKU with two pieces left`);

  const { token } = await tell(
    `log in as ${options.shopper.username}`,
    () => visitor.post('/api/auth/login', { body: options.shopper }),
    () => 'token received',
  );
  const shopper = visitor.with({ token });
  await tell(
    'put it into the cart',
    async () => {
      for (const sku of skus) await shopper.post('/api/v1/cart/add', { body: { sku_id: sku.id, qty: 1 } });
      return shopper.get('/api/v1/cart');
    },
    (cart) => `${cart.length} lines in the cart`,
  );
  const [address] = await tell(
    'choose the address',
    () => shopper.get('/api/v1/addresses'),
    (list) => (list[0] ? `${list[0].name}, ${list[0].city}` : 'none'),
  );
  if (!address) throw new StoryError(`${options.shopper.username} has no address`);
  const order = await tell(
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
  await tell(
    'pay',
    () => shopper.post('/api/v1/orders/{id}/pay', mine),
    () => 'paid at once',
  );
  await tell(
    'look at the order',
    async () => {
      const paid = await shopper.get('/api/v1/orders/{id}', mine);
      expect(paid.status === 2 && paid.inventory_status === 'confirmed', `order ${order.id} is ${paid.status_label}`);
      return paid;
    },
    (paid) => `${paid.status_label}, stock ${paid.inventory_status}`,
  );
  const login = await tell(
    `log in as ${options.administrator.username}`,
    () => visitor.post('/admin/api/auth/login', { body: options.administrator }),
    () => 'token received',
  );
  const staff = visitor.with({ token: login.token });
  await tell(
    'find it among the orders to ship',
    async () => {
      const list = await staff.get('/admin/api/orders', { query: { status: 2 } });
      expect(
        list.list.some((row) => row.id === order.id),
        `order ${order.id} is not in the first page to ship`,
      );
      return list;
    },
    (list) => `${list.total} to ship`,
  );
  const tracking_no = `SF${order.order_no.slice(-12)}`;
  await tell(
    'ship it',
    () =>
      staff.put('/admin/api/orders/{id}/ship', {
        ...mine,
        body: { ship_type: 'initial', company: 'SF', tracking_no, remark: 'demo' },
      }),
    () => `SF ${tracking_no}`,
  );
  await tell(
    'the shopper sees it coming',
    async () => {
      const shipped = await shopper.get('/api/v1/orders/{id}', mine);
      expect(
        shipped.status === 3 && shipped.tracking_no === tracking_no,
        `order ${order.id} is ${shipped.status_label}`,
      );
      return shipped;
    },
    (shipped) => `${shipped.status_label}, ${shipped.latest_shipment?.company} ${shipped.latest_shipment?.tracking_no}`,
  );
  return steps;
}
