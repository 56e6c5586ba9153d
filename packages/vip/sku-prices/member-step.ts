import type { PriceStep, Pricing } from '@tradepost/pricing';
import { atRate } from '../fields.ts';
import { type MemberFact, type PriceFact, selectMemberFacts } from './member-step-store.ts';

type Facts = {
  /** By shopper. */
  members: ReadonlyMap<number, MemberFact>;
  /** By `keyOf`. */
  prices: ReadonlyMap<string, PriceFact>;
};

const keyOf = ({ level_id, product_id, sku_id }: Pick<PriceFact, 'level_id' | 'product_id' | 'sku_id'>) =>
  `${level_id}/${product_id}/${sku_id}`;

/** What the member saves on one piece of a line, in minor units: 0 when the member price is not lower. */
function savingOf(pricing: Pricing, line: number, level_id: number, { prices }: Facts): number {
  const { product_id, sku_id } = pricing.request.lines[line]!;
  const rule =
    prices.get(keyOf({ level_id, product_id, sku_id })) ?? prices.get(keyOf({ level_id, product_id, sku_id: 0 }));
  if (!rule) return 0;
  const price = pricing.price(line);
  return Math.max(0, price - (rule.vip_price > 0 ? rule.vip_price : atRate(price, rule.vip_discount_rate)));
}

/**
 * The member price: of active members with a level, on lines without an activity. The price of a SKU takes precedence over the price
 * of its product.
 */
export const memberStep: PriceStep<Facts, never> = {
  name: 'member',
  priority: 15,
  statements: { load: 1, write: 0, release: 0 },
  async load(sql, { userIds, skuIds, now }) {
    const { members, prices } = await selectMemberFacts(sql, { userIds, skuIds, now });
    return {
      members: new Map(members.map((member) => [member.user_id, member])),
      prices: new Map(prices.map((price) => [keyOf(price), price])),
    };
  },
  apply(pricing, facts) {
    const member = facts.members.get(pricing.request.user_id);
    if (!member || facts.prices.size === 0) return undefined;
    const amounts = pricing.ordinaryLines().map((line) => ({
      line,
      amount: savingOf(pricing, line, member.level_id, facts) * pricing.request.lines[line]!.qty,
    }));
    pricing.discountLines({ type: 'member', name: member.level_name }, amounts);
    return undefined;
  },
};
