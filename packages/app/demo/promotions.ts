import { RefusalError } from '@tradepost/client';
import { type Client, type Login, money, type Story, StoryError } from './story.ts';

type Line = {
  qty: number;
  origin_price: number;
  price: number;
  activity_title: string;
  discounts: readonly { type_label: string; name: string; amount: number }[];
  payable_amount: number;
};

/** How a line got its price, from the price of the catalogue to what is paid. */
function explained({ qty, origin_price, price, activity_title, discounts, payable_amount }: Line): string {
  const parts = [`${qty} x ${money(origin_price)}`];
  if (activity_title) parts.push(`${money(price)} each in "${activity_title}", which excludes other discounts`);
  for (const { type_label, name, amount } of discounts) parts.push(`${type_label} "${name}" -${money(amount)}`);
  return `${parts.join('; ')}; to pay ${money(payable_amount)}`;
}

/** What a member price is, in words. */
const priceInWords = ({ vip_price, vip_discount_rate }: { vip_price: number; vip_discount_rate: number }) =>
  vip_price > 0 ? money(vip_price) : `${Math.round(vip_discount_rate * 10_000) / 100} % of the price`;

/** The first running flash sale line with stock, and an ordinary SKU that has a member price. */
async function findGoods(story: Story, visitor: Client, staff: Client) {
  const sale = await story.step(
    'find a flash sale',
    () => visitor.get('/api/v1/seckill/products', { query: { size: 1 } }),
    ({ list: [row] }) =>
      row ? `"${row.activity_name}": ${row.title}, ${money(row.price)} instead of ${money(row.origin_price)}` : 'none',
  );
  const [row] = sale.list;
  if (!row) throw new StoryError('no flash sale is running: `tradepost demo` needs the demo shop');
  const { sku } = await story.step(
    'find a member price',
    async () => {
      const { list } = await staff.get('/admin/api/vip/sku-prices', { query: { status: 1, size: 10 } });
      const rule = list.find((one) => one.product_id !== row.product_id);
      if (!rule) throw new StoryError('no product has a member price: `tradepost demo` needs the demo shop');
      const found = await visitor.get('/api/v1/products/{id}', { path: { id: rule.product_id } });
      const goods = found.skus.find(({ id, stock }) => stock > 0 && (rule.sku_id === 0 || rule.sku_id === id));
      if (!goods) throw new StoryError(`${found.title} has no SKU with a member price in stock`);
      return { product: found, sku: goods, rule };
    },
    ({ product, sku, rule }) =>
      `${product.title}, ${money(sku.price)}: members of level ${rule.level_name} pay ${priceInWords(rule)}`,
  );
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
      () => `${plan.name}, ${plan.months} months for ${money(plan.price)}, paid at once`,
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

/** Whether the shop has an endpoint: a module that is switched off has none. */
async function isServed(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (error instanceof RefusalError && error.status === 404) return false;
    throw error;
  }
}

/** The modules of promotions that this shop does not run. */
async function missingModules(visitor: Client, shopper: Client): Promise<string[]> {
  const probes = {
    seckill: () => visitor.get('/api/v1/seckill/products', { query: { size: 1 } }),
    vip: () => shopper.get('/api/v1/vip/profile'),
    marketing: () => shopper.get('/api/v1/coupons'),
  };
  const missing: string[] = [];
  for (const [name, probe] of Object.entries(probes)) if (!(await isServed(probe))) missing.push(name);
  return missing;
}

/** A member buys a line of a flash sale together with an ordinary line, with a coupon, and sees how each line got its price. */
export async function buyPromoted(
  story: Story,
  { visitor, shopper, address_id }: { visitor: Client; shopper: Client; address_id: number },
  administrator: Login,
): Promise<void> {
  const missing = await missingModules(visitor, shopper);
  if (missing.length > 0) {
    const reason = `skipped: the shop runs without ${missing.join(', ')}`;
    await story.step(
      'buy with promotions',
      async () => reason,
      (text) => text,
    );
    return;
  }
  const { token } = await visitor.post('/admin/api/auth/login', { body: administrator });
  const staff = visitor.with({ token });
  const items = await findGoods(story, visitor, staff);
  const coupon = await prepare(story, shopper, staff);
  const selection = { items, coupon_ids: [coupon] };
  const quote = await story.step(
    'ask for the price',
    () => shopper.post('/api/v1/orders/quote', { body: selection }),
    (asked) =>
      `goods ${money(asked.goods_amount)} with the flash price, discounts -${money(asked.discount_amount)}, to pay ${money(asked.total_amount)}`,
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
