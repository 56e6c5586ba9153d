import type OpenAI from 'openai';
import { z } from 'zod';
import {
  type ImageDriver,
  type PictureRequest,
  ServiceError,
  type ServiceIo,
  type ServiceModel,
  type ServicePicture,
} from './driver.ts';
import { inCalls } from './in-calls.ts';
import { nearestSize } from './picture-size.ts';
import { wholePrompt } from './prompt-text.ts';
import { connectionError, statusError } from './service-fault.ts';

const dalle3Sizes = ['1024x1024', '1792x1024', '1024x1792'];
const dalle2Sizes = ['256x256', '512x512', '1024x1024'];
const defaultSizes = ['1024x1024', '1536x1024', '1024x1536'];

function sizesOf({ model, sizes }: ServiceModel): readonly string[] {
  if (sizes.length > 0) return sizes;
  return model.startsWith('dall-e-3') ? dalle3Sizes : model.startsWith('dall-e-2') ? dalle2Sizes : defaultSizes;
}

/** The answer of a service is not trusted: only pictures of the expected form are read. */
const answerSchema = z.object({
  data: z
    .array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() }))
    .min(1)
    .max(20),
});

/** The pictures of an answer of the form of OpenAI. */
export function picturesIn(answer: unknown): ServicePicture[] {
  const { data, success } = answerSchema.safeParse(answer);
  if (!success) throw new ServiceError('wrong_answer', 'it has no pictures', { permanent: false });
  return data.data.map(({ b64_json, url }) => {
    if (b64_json) return { bytes: Buffer.from(b64_json, 'base64') };
    if (url) return { url };
    throw new ServiceError('wrong_answer', 'a picture is missing', { permanent: false });
  });
}

/** Loaded by the first picture: the client has 236 files, and most starts of a command or server make no picture. */
const loadClient = () => import('openai');

/** The error of a call as the task needs it. */
async function serviceErrorOf(error: unknown): Promise<ServiceError> {
  const { APIError } = await loadClient();
  if (!(error instanceof APIError)) return connectionError(error);
  const { status, message, headers } = error as { status?: number; message: string; headers?: Headers };
  return status === undefined ? connectionError(error) : statusError(status, message, headers?.get('retry-after'));
}

/** A client without retries: they would not be counted as attempts. */
export async function clientOf(model: ServiceModel, fetch: ServiceIo['fetch']): Promise<OpenAI> {
  const { OpenAI: Client } = await loadClient();
  return new Client({
    ...{ apiKey: model.apiKey || 'none', baseURL: model.endpoint, fetch, maxRetries: 0 },
    // Without these the client reads variables of the environment, which belong to other programs.
    ...{ organization: null, project: null, adminAPIKey: null, webhookSecret: null },
    logLevel: 'off',
  });
}

/** One call of `images.generate`, or of `images.edit` with a reference image. */
async function callOnce(
  model: ServiceModel,
  request: PictureRequest,
  { fetch, signal }: ServiceIo,
): Promise<ServicePicture[]> {
  const client = await clientOf(model, fetch);
  const fields = {
    ...model.options,
    model: model.model,
    prompt: wholePrompt(request),
    n: request.count,
    size: nearestSize(sizesOf(model), request.width, request.height),
    ...(model.responseFormat ? { response_format: model.responseFormat } : {}),
    stream: false as const,
  };
  const { refImage } = request;
  const { toFile } = await loadClient();
  const answer = refImage
    ? await client.images.edit(
        {
          ...fields,
          image: await toFile(refImage.bytes, `reference.${refImage.mime.slice(6)}`, { type: refImage.mime }),
        },
        { signal },
      )
    : await client.images.generate(fields, { signal });
  return picturesIn(answer);
}

/** A driver over calls of the client. Errors of the client become errors of the service. */
export const overClient =
  (call: typeof callOnce): ImageDriver['generate'] =>
  async (model, request, io) => {
    try {
      const perCall = model.picturesPerRequest ?? (model.model.startsWith('dall-e-3') ? 1 : request.count);
      return await inCalls(perCall, request, (part) => call(model, part, io));
    } catch (error) {
      throw await serviceErrorOf(error);
    }
  };

/** The image endpoint of OpenAI, and of services with the same endpoint. */
export const openaiDriver: ImageDriver = {
  name: 'openai',
  endpoint: 'https://api.openai.com/v1',
  model: 'gpt-image-1',
  generate: overClient(callOnce),
};
