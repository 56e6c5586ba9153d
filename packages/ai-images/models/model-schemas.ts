import { bit, id, list, requiredText, text, url } from '@tradepost/http';
import { z } from 'zod';
import type { ImageDriver } from '../drivers/driver.ts';
import { maxAddress, maxKey, maxModels, maxName, maxOptions, maxPictures, maxSizes } from '../limits.ts';

const paramsSchema = z
  .object({
    model: text(maxName)
      .trim()
      .optional()
      .meta({ description: 'its name at the service', examples: ['gpt-image-1'] }),
    sizes: z
      .array(text(9).regex(/^(any|[1-9]\d{1,3}x[1-9]\d{1,3})$/))
      .max(maxSizes)
      .optional()
      .meta({ description: 'sizes that it draws; `any` for all', examples: [['1024x1024']] }),
    images_per_request: z
      .int()
      .min(1)
      .max(maxPictures)
      .optional()
      .meta({ examples: [4] }),
    response_format: z.enum(['b64_json', 'url']).optional(),
    options: z
      .record(text(64).regex(/^[a-zA-Z_]\w{0,63}$/), z.union([text(500), z.number(), z.boolean()]))
      .refine((options) => Object.keys(options).length <= maxOptions, { error: `at most ${maxOptions} options` })
      .optional()
      .meta({
        description: 'further fields of each request',
        maxProperties: maxOptions,
        examples: [{ quality: 'high' }],
      }),
  })
  .meta({ description: 'what the service is asked for; sent as a whole, other fields are ignored' });

const fieldsOf = (drivers: readonly ImageDriver[]) => ({
  name: requiredText(maxName).meta({ examples: ['Product photos'] }),
  driver: z.enum(drivers.map(({ name }) => name)).meta({ description: 'the protocol of the service' }),
  endpoint: text(maxAddress)
    .trim()
    .meta({ description: 'empty: the address of the service', examples: ['https://images.example.com/v1'] }),
  api_key: text(maxKey)
    .trim()
    .regex(/^[\x21-\x7e]*$/, { error: 'must consist of visible ASCII characters' })
    .meta({ description: 'stored encrypted and never answered; empty or absent: no change', examples: ['sk-a-key'] }),
  params: paramsSchema,
  is_default: bit(),
  status: bit().meta({ description: '1 enabled, 0 disabled' }),
  supports_ref_image: bit(),
});

/** The fields that a request may send. Absent ones do not change. */
export const modelChangeBody = (drivers: readonly ImageDriver[]) => z.object(fieldsOf(drivers)).partial();
export const newModelBody = (drivers: readonly ImageDriver[]) => {
  const { name, driver } = fieldsOf(drivers);
  return modelChangeBody(drivers).extend({ name, driver });
};
export type ModelChange = z.output<ReturnType<typeof modelChangeBody>>;

export const modelView = z
  .object({
    id: id(),
    name: z.string().meta({ examples: ['Product photos'] }),
    driver: z.string().meta({ examples: ['openai'] }),
    endpoint: url(),
    params: paramsSchema,
    is_default: bit(),
    status: bit(),
    supports_ref_image: bit(),
    has_api_key: z.boolean(),
  })
  .meta({ id: 'AiImageModel' });
export const modelList = list(modelView, maxModels);
