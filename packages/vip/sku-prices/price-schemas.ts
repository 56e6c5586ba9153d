import { toWire } from '@tradepost/core';
import { amount, amountInput, id, idOrZero, pageQueryWith, timestamp, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';
import { rateIn, rateOut, rateToWire, status, statusFilter } from '../fields.ts';
import type { SkuPrice } from './price-store.ts';

const fields = {
  vip_price: zeroWhenEmpty(amountInput())
    .optional()
    .meta({ description: 'the unit price; 0: vip_discount_rate decides', examples: [9.9] }),
  vip_discount_rate: zeroWhenEmpty(rateIn()).optional(),
  status: status().optional(),
};
const skuId = () => idOrZero().meta({ description: '0: all SKUs of the product', examples: [1] });
const productId = () => id().meta({ description: 'with a sku_id: the product of the SKU counts' });
export const priceBody = z.object({ product_id: productId(), sku_id: skuId().default(0), level_id: id(), ...fields });
export const priceChange = z.object({
  ...{ product_id: productId().optional(), sku_id: skuId().optional(), level_id: id().optional(), ...fields },
});

export const priceQuery = pageQueryWith({
  product_id: idOrZero().optional().meta({ description: '0 or absent: all products' }),
  sku_id: idOrZero().optional().meta({ description: '0: the prices of whole products' }),
  level_id: idOrZero().optional().meta({ description: '0 or absent: all levels' }),
  status: statusFilter(),
});

export const priceSchema = z
  .object({
    id: id(),
    product_id: id(),
    sku_id: skuId(),
    level_id: id(),
    level_name: z.string().meta({ examples: ['Gold'] }),
    vip_price: amount(),
    vip_discount_rate: rateOut(),
    status: status(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'VipSkuPrice' });

export const priceView = (price: SkuPrice, iso: (at: Date) => string) => ({
  ...{ id: price.id, product_id: price.product_id, sku_id: price.sku_id, level_id: price.level_id },
  ...{ level_name: price.level_name, vip_price: toWire(price.vip_price), status: price.status },
  vip_discount_rate: rateToWire(price.vip_discount_rate),
  ...{ created_at: iso(price.created_at), updated_at: iso(price.updated_at) },
});
