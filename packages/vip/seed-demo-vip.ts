import type { DemoSeed } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';

/**
 * Two plans, three levels, a price of the first SKU for the lowest level, and a monthly coupon, which is found by its name. No demo
 * shopper is a member.
 */
async function writeVip(tx: Transaction): Promise<Record<string, never>> {
  await tx`
    insert into vip.plans (name, months, price, renew_price)
    values ('Monthly', 1, 1900, 0), ('Yearly', 12, 19900, 16900)`;
  await tx`
    insert into vip.levels (name, growth_threshold, discount_rate, sort)
    values ('Silver', 0, 9800, 10), ('Gold', 1000, 9500, 20), ('Diamond', 5000, 9000, 30)`;
  await tx`
    insert into vip.sku_prices (product_id, sku_id, level_id, vip_discount_rate)
    select s.product_id, s.id, v.id, 9000
    from (select id, product_id from catalog.sku_facts order by id limit 1) as s
    cross join (select id from vip.levels order by growth_threshold limit 1) as v`;
  await tx`
    insert into vip.coupon_rules (name, coupon_name, monthly_quota) values ('Coupon of the month', '10 % off', 2)`;
  return {};
}

export const vipDemo: DemoSeed = { write: (tx) => writeVip(tx) };
