/** One request of a scenario. A unit of work (an order, a whole purchase) ends with the call that `completes` it. */
export type Call = { readonly bytes: Buffer; readonly completes: boolean };

/** The requests of one connection. `yield` returns the body of the response, which is valid until the next `yield`. */
export type Scenario<Data = never> = (
  data: Data,
  connection: number,
  connections: number,
) => Generator<Call, void, Buffer>;

export type Buyer = { readonly token: string; readonly address_id: number };
export type ReadData = {
  readonly paths: readonly string[];
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
export type OrderData = {
  readonly buyers: readonly Buyer[];
  readonly skus: readonly number[];
  readonly lines: number;
  /** All lines are of this row of an activity. */
  readonly activityProductId?: number;
};
export type ActivityLine = { readonly sku_id: number; readonly activity_product_id: number };
/** `coupons` are the coupons of each buyer. Each is used once. */
export type PromotedPurchaseData = PurchaseData & {
  readonly activityLines: readonly ActivityLine[];
  readonly coupons: readonly (readonly number[])[];
};
export type PurchaseData = { readonly buyers: readonly Buyer[]; readonly skus: readonly number[] };

function request(
  method: string,
  path: string,
  token?: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Language: en\r\n` +
      (token ? `Authorization: Bearer ${token}\r\n` : '') +
      (body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`) +
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('') +
      `\r\n${text}`,
  );
}

/** Random numbers: a different sequence for each connection, the same in every run. */
function randomBelow(seed: number): (limit: number) => number {
  let state = (seed + 1) * 0x9e3779b1;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function distinct(count: number, from: readonly number[], random: (limit: number) => number): number[] {
  const picked = new Set<number>();
  while (picked.size < Math.min(count, from.length)) picked.add(from[random(from.length)]!);
  return [...picked];
}

/** Requests the paths cyclically. */
function* reads(data: ReadData, connection: number): Generator<Call, void, Buffer> {
  const calls = data.paths.map((path) => ({
    bytes: request('GET', path, data.token, undefined, data.headers),
    completes: true,
  }));
  for (let i = connection; ; i++) yield calls[i % calls.length]!;
}

/** Direct purchases of `lines` random SKUs; 256 of them prepared per connection and repeated. */
function* orders(data: OrderData, connection: number, connections: number): Generator<Call, void, Buffer> {
  const random = randomBelow(connection);
  const mine = data.buyers.filter((_, index) => index % connections === connection);
  const calls = Array.from({ length: 256 }, (_, index): Call => {
    const { token, address_id } = mine[index % mine.length]!;
    const activity = data.activityProductId ? { activity_product_id: data.activityProductId } : {};
    const items = distinct(data.lines, data.skus, random).map((sku_id) => ({ sku_id, ...activity }));
    return { bytes: request('POST', '/api/v1/orders', token, { address_id, items }), completes: true };
  });
  for (let i = 0; ; i++) yield calls[i % calls.length]!;
}

/** The first `"id":` of an envelope whose data is an order. */
function orderIdIn(body: Buffer): number {
  const from = body.indexOf('"id":') + 5;
  return from < 5 ? 0 : Number.parseInt(body.toString('latin1', from, from + 16), 10);
}

/** A purchase: two lines into the cart, an order of the whole cart, its payment. */
function* purchases(data: PurchaseData, connection: number, connections: number): Generator<Call, void, Buffer> {
  const random = randomBelow(connection);
  // Each shopper belongs to one connection. Two concurrent purchases in one cart would order each other's lines.
  const mine = data.buyers.filter((_, index) => index % connections === connection);
  const adds = data.skus.map((sku_id) => JSON.stringify({ sku_id, qty: 1 }));
  const choices = [...adds.keys()];
  const shoppers = mine.map(({ token, address_id }) => ({
    token,
    addHead: request('POST', '/api/v1/cart/add', token).toString('latin1').slice(0, -2),
    order: { bytes: request('POST', '/api/v1/orders', token, { address_id }), completes: false },
  }));
  for (let i = 0; ; i++) {
    const { token, addHead, order } = shoppers[i % shoppers.length]!;
    for (const index of distinct(2, choices, random)) {
      const body = adds[index]!;
      const head = `${addHead}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      yield { bytes: Buffer.from(head + body), completes: false };
    }
    const id = orderIdIn(yield order);
    yield { bytes: request('POST', `/api/v1/orders/${id}/pay`, token), completes: true };
  }
}

/** A purchase of a member: a flash sale line and an ordinary line into the cart, an order with a coupon, its payment. */
function* promotedPurchases(
  data: PromotedPurchaseData,
  connection: number,
  connections: number,
): Generator<Call, void, Buffer> {
  const random = randomBelow(connection);
  const mine = [...data.buyers.keys()].filter((index) => index % connections === connection);
  for (let i = 0; ; i++) {
    const index = mine[i % mine.length]!;
    const { token, address_id } = data.buyers[index]!;
    const coupon = data.coupons[index]![Math.floor(i / mine.length)];
    if (coupon === undefined) throw new Error('a shopper of the bench has used all coupons');
    const activity = data.activityLines[random(data.activityLines.length)]!;
    const lines = [{ ...activity }, { sku_id: data.skus[random(data.skus.length)]! }];
    for (const line of lines)
      yield { bytes: request('POST', '/api/v1/cart/add', token, { ...line, qty: 1 }), completes: false };
    const body = { address_id, coupon_ids: [coupon] };
    const id = orderIdIn(yield { bytes: request('POST', '/api/v1/orders', token, body), completes: false });
    yield { bytes: request('POST', `/api/v1/orders/${id}/pay`, token), completes: true };
  }
}

export const scenarios = { reads, orders, purchases, promotedPurchases };
export type ScenarioName = keyof typeof scenarios;
