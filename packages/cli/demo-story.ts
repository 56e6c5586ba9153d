export type Step = { step: string; ms: number; result: string };

type Envelope = { code: number; message: string; data: unknown };
// biome-ignore lint/suspicious/noExplicitAny: the story reads answers as any client would
type Data = any;

/** A step of the story that did not go as it must. */
class StoryError extends Error {
  override name = 'StoryError';
}

async function send(url: string, method: string, path: string, token: string | null, body?: unknown): Promise<Data> {
  let response: Response;
  try {
    response = await fetch(url + path, {
      method,
      headers: {
        'accept-language': 'en',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body !== undefined ? { 'content-type': 'application/json' } : {}),
      },
      ...(body !== undefined ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(15_000),
    });
  } catch (error) {
    const reason = (error as { cause?: Error }).cause?.message ?? (error as Error).message;
    throw new StoryError(`no server answers at ${url} (${reason}); run \`tradepost start\` first`);
  }
  const envelope = (await response.json()) as Envelope;
  if (envelope.code !== 0) throw new StoryError(`${method} ${path}: ${envelope.message} (code ${envelope.code})`);
  return envelope.data;
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
    const value = await act();
    const told = { step, ms: Math.round((performance.now() - begun) * 10) / 10, result: result(value) };
    steps.push(told);
    onStep(told);
    return value;
  };
  const expect = (condition: boolean, what: string) => {
    if (!condition) throw new StoryError(what);
  };

  const found = await tell(
    `search for "${options.keyword}"`,
    () => send(url, 'GET', `/api/v1/products?keyword=${encodeURIComponent(options.keyword)}`, null),
    (list) => `${list.total} products, first: ${list.list[0]?.title ?? '-'}`,
  );
  const card = found.list.find((product: Data) => product.stock >= 3);
  expect(
    card !== undefined,
    `no product matches "${options.keyword}" with three pieces in stock; try another --keyword`,
  );
  const product = await tell(
    'open the product',
    () => send(url, 'GET', `/api/v1/products/${card.id}`, null),
    (detail) => `${detail.title}: ${detail.skus.length} SKUs from ${money(detail.price)}, ${detail.stock} pieces`,
  );
  const [first, second] = product.skus.filter((sku: Data) => sku.stock >= 2);
  expect(first !== undefined, `${product.title} has no SKU with two pieces left`);

  const { token } = await tell(
    `log in as ${options.shopper.username}`,
    () => send(url, 'POST', '/api/auth/login', null, options.shopper),
    () => 'token received',
  );
  const skus = [first, second].filter(Boolean);
  await tell(
    'put it into the cart',
    async () => {
      await send(url, 'POST', '/api/v1/cart/add', token, { sku_id: first.id, qty: 1 });
      if (second) await send(url, 'POST', '/api/v1/cart/add', token, { sku_id: second.id, qty: 1 });
      return send(url, 'GET', '/api/v1/cart', token);
    },
    (cart) => `${cart.length} lines in the cart`,
  );
  const addresses = await tell(
    'choose the address',
    () => send(url, 'GET', '/api/v1/addresses', token),
    (list) => (list[0] ? `${list[0].name}, ${list[0].city}` : 'none'),
  );
  expect(addresses.length > 0, `${options.shopper.username} has no address`);
  const order = await tell(
    'place the order',
    () =>
      send(url, 'POST', '/api/v1/orders', token, {
        address_id: addresses[0].id,
        sku_ids: skus.map((sku: Data) => sku.id),
        payment_method: 'alipay',
        remark: 'demo',
      }),
    (placed) => `order ${placed.order_no}, ${money(placed.total_amount)}, stock ${placed.inventory_status}`,
  );
  await tell(
    'pay',
    () => send(url, 'POST', `/api/v1/orders/${order.id}/pay`, token),
    () => 'paid at once',
  );
  await tell(
    'look at the order',
    async () => {
      const paid = await send(url, 'GET', `/api/v1/orders/${order.id}`, token);
      expect(paid.status === 2 && paid.inventory_status === 'confirmed', `order ${order.id} is ${paid.status_label}`);
      return paid;
    },
    (paid) => `${paid.status_label}, stock ${paid.inventory_status}`,
  );
  const staff = await tell(
    `log in as ${options.administrator.username}`,
    () => send(url, 'POST', '/admin/api/auth/login', null, options.administrator),
    () => 'token received',
  );
  await tell(
    'find it among the orders to ship',
    async () => {
      const list = await send(url, 'GET', '/admin/api/orders?status=2', staff.token);
      expect(
        list.list.some((row: Data) => row.id === order.id),
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
      send(url, 'PUT', `/admin/api/orders/${order.id}/ship`, staff.token, {
        ship_type: 'initial',
        company: 'SF',
        tracking_no,
        remark: 'demo',
      }),
    () => `SF ${tracking_no}`,
  );
  await tell(
    'the shopper sees it coming',
    async () => {
      const shipped = await send(url, 'GET', `/api/v1/orders/${order.id}`, token);
      expect(
        shipped.status === 3 && shipped.tracking_no === tracking_no,
        `order ${order.id} is ${shipped.status_label}`,
      );
      return shipped;
    },
    (shipped) => `${shipped.status_label}, ${shipped.latest_shipment.company} ${shipped.latest_shipment.tracking_no}`,
  );
  return steps;
}
