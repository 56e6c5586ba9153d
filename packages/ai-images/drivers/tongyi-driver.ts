import { z } from 'zod';
import { type ImageDriver, ServiceError, type ServiceIo, type ServiceModel, type ServicePicture } from './driver.ts';
import { inCalls } from './in-calls.ts';
import { nearestSize } from './picture-size.ts';
import { styledPrompt } from './prompt-text.ts';
import { answerError, askJson, dataUrl, readAnswer, untilDone } from './service-task.ts';

/** Sizes whose sides and areas all models from wan2.1 to wan2.5 draw. */
const sizes = ['1024x1024', '1280x960', '960x1280', '1440x960', '960x1440', '1280x720', '720x1280'];
/** Pictures of one request. */
const perRequest = 4;

const fault = z.object({ code: z.string().catch(''), message: z.string().catch('') });
const taskId = z.string().regex(/^[\w-]{1,200}$/);
const submitted = z.object({ output: z.object({ task_id: taskId }) });
const task = z.object({
  output: z.object({
    task_status: z.string(),
    code: z.string().optional(),
    message: z.string().optional(),
    results: z
      .array(z.object({ url: z.string().optional(), code: z.string().optional(), message: z.string().optional() }))
      .max(20)
      .default([]),
  }),
});
type Task = z.output<typeof task>['output'];

/** Codes of failed tasks that another attempt can help. Others are refusals, such as DataInspectionFailed. */
const retryable = /^(?:InternalError|SystemError|Throttling|ServiceUnavailable|RequestTimeOut|ModelServing)/i;

function faultOf({ code = '', message = '' }: { code?: string | undefined; message?: string | undefined }) {
  const permanent = !retryable.test(code);
  return new ServiceError(permanent ? 'refused' : 'unavailable', `${code} ${message}`.trim(), { permanent });
}

/** The pictures of a task that has ended, or null. Of several pictures some may have failed. */
function picturesOf(output: Task): ServicePicture[] | null {
  const { task_status: status, results } = output;
  if (status === 'PENDING' || status === 'RUNNING') return null;
  if (status === 'FAILED') throw faultOf(output);
  if (status !== 'SUCCEEDED')
    throw new ServiceError('unavailable', `the task has the status ${status}`, { permanent: false });
  const pictures = results.flatMap(({ url }) => (url ? [{ url }] : []));
  const failed = results.find(({ code }) => code);
  if (pictures.length === 0 && failed) throw faultOf(failed);
  return pictures;
}

async function ask(io: ServiceIo, { endpoint, apiKey }: ServiceModel, path: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const init = body
    ? { method: 'POST', headers: { ...headers, 'x-dashscope-async': 'enable' }, body: JSON.stringify(body) }
    : { method: 'GET', headers };
  const answer = await askJson(io, new URL(`${endpoint}${path}`), init);
  if (answer.ok) return answer.json;
  const { code, message } = fault.catch({ code: '', message: '' }).parse(answer.json);
  throw answerError(answer, `${code} ${message}`.trim());
}

/**
 * DashScope of Alibaba Cloud: a task is submitted, and asked for until it has ended. Models that take reference images have an
 * endpoint of their own, and draw nothing without one.
 */
export const tongyiDriver: ImageDriver = {
  name: 'tongyi',
  endpoint: 'https://dashscope.aliyuncs.com/api/v1',
  model: 'wan2.2-t2i-flash',
  generate: (model, request, io) =>
    inCalls(model.picturesPerRequest ?? perRequest, request, async (part) => {
      const { refImage, negPrompt, count, width, height } = part;
      const size = nearestSize(model.sizes.length > 0 ? model.sizes : sizes, width, height).replace('x', '*');
      const body = {
        model: model.model,
        input: {
          prompt: styledPrompt(part),
          ...(negPrompt ? { negative_prompt: negPrompt } : {}),
          ...(refImage ? { images: [dataUrl(refImage)] } : {}),
        },
        parameters: { ...model.options, size, n: count },
      };
      const kind = refImage ? 'image2image' : 'text2image';
      const first = await ask(io, model, `/services/aigc/${kind}/image-synthesis`, body);
      const { output } = readAnswer(submitted, first);
      return untilDone(
        io,
        () => ask(io, model, `/tasks/${output.task_id}`),
        (answer) => picturesOf(readAnswer(task, answer).output),
      );
    }),
};
