import { maskedName, offerFields, ownNickname, productTitle, progressFields } from '@tradepost/activities';
import { amount, id, idOrZero, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxHelpersOfBargain } from './limits.ts';

const bargainFields = {
  ...offerFields('Mugs to bargain for'),
  user_id: id().meta({ description: 'the owner' }),
  start_price: amount(),
  floor_price: amount(),
  current_price: amount(),
  min_cut_amount: amount(),
  max_cut_amount: amount(),
  max_helpers: z
    .int()
    .max(maxHelpersOfBargain)
    .meta({ examples: [50] }),
  help_count: z.int().meta({ examples: [3] }),
  ...progressFields,
  order_id: idOrZero().meta({ description: 'the order of the owner that bought it, 0 for none; 0 for other shoppers' }),
};
export const bargainSchema = z.object(bargainFields).meta({ id: 'BargainOrder' });

export const adminBargainSchema = z
  .object({
    ...bargainFields,
    user_nickname: ownNickname(),
    product_title: productTitle(),
  })
  .meta({ id: 'AdminBargainOrder' });

export const helpSchema = z
  .object({
    id: id(),
    bargain_order_id: id(),
    user_id: id().meta({ description: 'the helper' }),
    cut_amount: amount(),
    user_nickname: maskedName('B***'),
    created_at: timestamp(),
  })
  .meta({ id: 'BargainHelp' });

export const cutSchema = z.object({ cut_amount: amount() });
