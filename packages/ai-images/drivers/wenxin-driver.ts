import type { ImageDriver } from './driver.ts';
import { clientOf, overClient, picturesIn } from './openai-driver.ts';
import { nearestSize } from './picture-size.ts';
import { wholePrompt } from './prompt-text.ts';
import { dataUrl } from './service-task.ts';

/** Sizes that the documentation of Qianfan recommends. */
const sizes = [
  '1024x1024',
  '1024x768',
  '768x1024',
  '768x768',
  '1024x576',
  '576x1024',
  '1536x1536',
  '2048x1536',
  '1536x2048',
];
/** Pictures of one request. */
const perRequest = 4;

/**
 * Qianfan of Baidu: the endpoint of OpenAI for new pictures, with the reference image in the field `refer_image`. It has no
 * endpoint for edits.
 */
export const wenxinDriver: ImageDriver = {
  name: 'wenxin',
  endpoint: 'https://qianfan.baidubce.com/v2',
  model: 'irag-1.0',
  generate: (model, request, io) =>
    overClient(async (of, { refImage, count, width, height, ...rest }, { fetch, signal }) => {
      const fields = {
        ...of.options,
        model: of.model,
        prompt: wholePrompt({ refImage, count, width, height, ...rest }),
        n: count,
        size: nearestSize(of.sizes.length > 0 ? of.sizes : sizes, width, height),
        ...(refImage ? { refer_image: dataUrl(refImage) } : {}),
        stream: false as const,
      };
      const client = await clientOf(of, fetch);
      return picturesIn(await client.images.generate(fields, { signal }));
    })({ ...model, picturesPerRequest: model.picturesPerRequest ?? perRequest }, request, io),
};
