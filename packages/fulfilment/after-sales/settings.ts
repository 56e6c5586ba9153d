import { setting } from '@tradepost/runtime';
import { z } from 'zod';

export const restockReturn = setting(
  'after_sale.restock_return',
  z.boolean(),
  true,
  'goods that come back for a refund go into stock when they are received',
);
export const restockExchange = setting(
  'after_sale.restock_exchange',
  z.boolean(),
  true,
  'goods that come back for an exchange go into stock when they are received; the replacement leaves stock when it is shipped, whatever this setting says',
);

export const afterSaleSettings = [restockReturn, restockExchange] as const;
