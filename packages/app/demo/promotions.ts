import { type Client, type Login, money, type Story, StoryError } from './story.ts';

type Amount = { type: string; name: string; amount: number };

/** How a line got its price, in one sentence. */
function explained(line: {
  qty: number;
  origin_price: number;
  price: number;
  activity_title: string;
  discounts: readonly Amount[];
  payable_amount: number;
}): string {
  const parts = [`${line.qty} x ${money(line.origin_price)}`];
  if (line.activity_title) parts.push(`${line.activity_title}: ${line.qty} x ${money(line.price)}`);
  for (const { type, name, amount } of line.discounts) parts.push(`${type} "${name}" -${money(amount)}`);
  return `${parts.join(', ')} = ${money(line.payable_amount)}`;
}

/** The first running flash sale line with stock, and an ordinary SKU that has a member price. */
async function findGoods(story: Story, visitor: Client, staff: Client) {
  const sale = await story.step(
    'find a flash sale',
    () => visitor.get('/api/v1/seckill/products', { query: { size: 1 } }),
    ({ list: [row] }) => (row ? `${row.title}, ${money(row.price)} instead of ${money(row.origin_price)}` : 'none'),
  );
  const [row] = sale.list;
  if (!row) throw new StoryError('no flash sale is running: `tradepost demo` needs the demo shop');
  const prices = await story.step(
    'find a member price',
    () => staff.get('/admin/api/vip/sku-prices', { query: { status: 1, size: 10 } }),
    ({ list: [one] }) => (one ? `${one.level_name}: ${money(one.vip_price)}` : 'none'),
  );
  const price = prices.list.find((one) => one.product_id !== row.product_id);
  if (!price) throw new StoryError('no product has a member price: `tradepost demo` needs the demo shop');
  const product = await visitor.get('/api/v1/products/{id}', { path: { id: price.product_id } });
  const sku = product.skus.find(({ id, stock }) => stock > 0 && (price.sku_id === 0 || price.sku_id === id));
  if (!sku) throw new StoryError(`${product.title} has no SKU with a member price in stock`);
  const sku_id = row.sku_id > 0 ? row.sku_id : await firstSku(visitor, row.product_id);
  return [
    { sku_id, activity_product_id: row.activity_product_id },
    { sku_id: sku.id, activity_product_id: 0 },
  ];
}

async function firstSku(visitor: Client, productId: number): Promise<number> {
  const { skus, title } = await visitor.get('/api/v1/products/{id}', { path: { id: productId } });
  const sku = skus.find(({ stock }) => stock > 0);
  if (!sku) throw new StoryError(`${title} has no SKU in stock`);
  return sku.id;
}

/** Makes the shopper a member, and gets a coupon. Returns the id of the coupon of the shopper. */
async function prepare(story: Story, shopper: Client, staff: Client): Promise<number> {
  const { is_vip } = await shopper.get('/api/v1/vip/profile');
  if (!is_vip) {
    const { list } = await staff.get('/admin/api/vip/plans', { query: { size: 1 } });
    const plan = list[0];
    if (!plan) throw new StoryError('the shop has no membership plan');
    await story.step(
      'open a membership',
      () => shopper.post('/api/v1/vip/open', { body: { plan_id: plan.id } }),
      () => `${plan.name}, ${plan.months} months for ${money(plan.price)}`,
    );
  }
  const claimable = (await shopper.get('/api/v1/coupons')).find((one) => one.can_claim && one.min_amount === 0);
  if (claimable)
    await story.step(
      'claim a coupon',
      () => shopper.post('/api/v1/coupons/{id}/claim', { path: { id: claimable.id } }),
      () => claimable.name,
    );
  const unused = (await shopper.get('/api/v1/user/coupons')).find(
    (one) => one.status === 1 && one.coupon.min_amount === 0,
  );
  if (!unused) throw new StoryError('the shopper has no coupon');
  return unused.id;
}

/** A member buys a line of a flash sale together with an ordinary line, with a coupon, and sees how each line got its price. */
export async function buyPromoted(
  story: Story,
  { visitor, shopper, address_id }: { visitor: Client; shopper: Client; address_id: number },
  administrator: Login,
): Promise<void> {
  const { token } = await visitor.post('/admin/api/auth/login', { body: administrator });
  const staff = visitor.with({ token });
  const items = await findGoods(story, visitor, staff);
  const coupon = await prepare(story, shopper, staff);
  const selection = { items, coupon_ids: [coupon] };
  const quote = await story.step(
    'ask for the price',
    () => shopper.post('/api/v1/orders/quote', { body: selection }),
    (asked) =>
      `goods ${money(asked.goods_amount)}, discount ${money(asked.discount_amount)}, to pay ${money(asked.total_amount)}`,
  );
  for (const [index, line] of quote.items.entries())
    await story.step(
      `price of line ${index + 1}`,
      async () => line,
      (one) => `${one.title}: ${explained(one)}`,
    );
  const order = await story.step(
    'order for this price',
    () =>
      shopper.post('/api/v1/orders', {
        body: { ...selection, address_id },
        idempotencyKey: crypto.randomUUID(),
        retry: 2,
      }),
    (placed) => `order ${placed.order_no}, ${money(placed.total_amount)}`,
  );
  story.expect(
    order.total_amount === quote.total_amount,
    `the order costs ${order.total_amount}, the quote said ${quote.total_amount}`,
  );
  const types = order.discounts.map(({ type }) => type);
  story.expect(types.includes('member') && types.includes('coupon'), `the order has the discounts ${types.join(', ')}`);
  await story.step(
    'pay the order',
    () => shopper.post('/api/v1/orders/{id}/pay', { path: { id: order.id } }),
    () => 'paid at once',
  );
}
