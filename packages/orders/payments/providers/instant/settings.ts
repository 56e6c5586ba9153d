import { setting } from '@tradepost/runtime';
import { z } from 'zod';

export const instantPay = setting(
  'pay.instant',
  z.boolean().nullable(),
  null,
  'whether shoppers can pay orders without money; null: only in a shop that the demo seed filled, never in production',
);
