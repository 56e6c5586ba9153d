import {
  id,
  idOrZero,
  lineText,
  pagedOf,
  pageQueryWith,
  requiredText,
  text,
  timestamp,
  trimmedText,
} from '@tradepost/http';
import { z } from 'zod';
import { pictureStyles } from '../drivers/driver.ts';
import { maxAddress, maxNegativePrompt, maxPictures, maxPrompt, maxSide, maxTaskPage, minSide } from '../limits.ts';

const side = () =>
  z
    .int()
    .min(minSide)
    .max(maxSide)
    .default(750)
    .meta({ examples: [750] });
const paramsSchema = z.object({
  width: side(),
  height: side(),
  count: z
    .int()
    .min(1)
    .max(maxPictures)
    .default(3)
    .meta({ examples: [3] }),
  style: z.enum(pictureStyles).optional(),
});
export type TaskParams = z.output<typeof paramsSchema>;

/** An empty word is `detail`, the default of the contract. */
const word = (description: string) =>
  lineText(32)
    .overwrite((value) => value || 'detail')
    .default('detail')
    .meta({ description, examples: ['detail'] });

export const generateBody = z.object({
  model_id: idOrZero().default(0).meta({ description: '0 or absent: the default model' }),
  scene: word('carousel or detail; stored as it is'),
  biz_type: word('cover, gallery, detail or intro; stored as it is'),
  target_product_id: idOrZero().default(0).meta({ description: 'stored as it is' }),
  ref_image_url: text(maxAddress)
    .trim()
    .default('')
    .meta({ description: 'an uploaded picture or an http address', examples: [''] }),
  prompt: requiredText(maxPrompt).meta({ examples: ['An enamel mug on a wooden table'] }),
  neg_prompt: trimmedText(maxNegativePrompt)
    .default('')
    .meta({ examples: ['text'] }),
  params: paramsSchema.prefault({}),
});
export type GenerateBody = z.output<typeof generateBody>;

export const taskView = z
  .object({
    id: id(),
    model_id: id(),
    model_name: z.string().meta({ examples: ['Product photos'] }),
    staff_id: id(),
    scene: z.string(),
    biz_type: z.string(),
    target_product_id: idOrZero(),
    ref_image_url: z.string(),
    prompt: z.string(),
    neg_prompt: z.string(),
    params: paramsSchema,
    status: z.union([z.literal(1), z.literal(2), z.literal(3)]).meta({ description: '1 generating, 2 done, 3 failed' }),
    result_urls: z
      .string()
      .nullable()
      .meta({
        description: 'JSON text of an array of addresses; null until it is done',
        examples: ['["/uploads/a.png"]'],
      }),
    error_msg: z.string().meta({ description: 'the reason of status 3' }),
    created_at: timestamp(),
    finished_at: timestamp().nullable(),
  })
  .meta({ id: 'AiImageTask' });
export const taskQuery = pageQueryWith({});
export const taskPage = pagedOf(taskView, maxTaskPage);
