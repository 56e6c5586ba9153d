import { tc3Authorization } from '@tradepost/outbound-http';
import { z } from 'zod';
import { type ImageDriver, ServiceError, type ServiceIo, type ServiceModel, type ServicePicture } from './driver.ts';
import { inCalls } from './in-calls.ts';
import { nearestSize } from './picture-size.ts';
import { wholePrompt } from './prompt-text.ts';
import { answerError, askJson, readAnswer, untilDone } from './service-task.ts';

const service = 'hunyuan';
const version = '2023-09-01';
/** The only region of this service. */
const region = 'ap-guangzhou';
const contentType = 'application/json; charset=utf-8';
const sizes = ['1024x1024', '768x768', '768x1024', '1024x768', '720x1280', '1280x720', '768x1280', '1280x768'];
/** The sizes of requests with a reference image. */
const refImageSizes = sizes.slice(0, 4);
/** Pictures of one request. */
const perRequest = 4;

const refusal = z.object({ Error: z.object({ Code: z.string(), Message: z.string().catch('') }) });
const envelope = z.object({ Response: z.looseObject({}) });
const submitted = z.object({ JobId: z.string().min(1).max(200) });
const job = z.object({
  JobStatusCode: z.coerce.string(),
  JobErrorCode: z.string().nullish(),
  JobErrorMsg: z.string().nullish(),
  ResultImage: z.array(z.string()).max(20).nullish(),
});

/** Codes that another attempt can help. Others are refusals, such as OperationDenied.TextIllegalDetected. */
const retryable =
  /^(?:RequestLimitExceeded|LimitExceeded|InternalError|ServiceUnavailable)(?:\.|$)|^ResourceInsufficient$|^FailedOperation\.(?:InnerError|RequestTimeout|RpcFail|ServerError|EngineServer\w+|EngineRequestTimeout)$/;

function faultOf(code: string, message: string): ServiceError {
  const permanent = !retryable.test(code);
  return new ServiceError(permanent ? 'refused' : 'unavailable', `${code} ${message}`.trim(), { permanent });
}

/** The two parts of a key: `SecretId:SecretKey`. */
function keyOf(apiKey: string): { id: string; secret: string } {
  const [, id, secret] = /^([^:]+):(.+)$/.exec(apiKey) ?? [];
  if (id && secret) return { id, secret };
  throw new ServiceError('refused', 'its key must have the form SecretId:SecretKey', { permanent: true });
}

/** One signed call of an action. Refusals have status 200 too. */
async function call(io: ServiceIo, { endpoint, apiKey }: ServiceModel, action: string, fields: object) {
  const url = new URL('/', endpoint);
  const body = JSON.stringify(fields);
  const seconds = Math.trunc(Date.now() / 1_000);
  const signed = { 'content-type': contentType, host: url.host, 'x-tc-action': action };
  const headers = {
    'content-type': contentType,
    'x-tc-action': action,
    'x-tc-version': version,
    'x-tc-timestamp': String(seconds),
    'x-tc-region': region,
    authorization: tc3Authorization({ service, headers: signed, body, seconds }, keyOf(apiKey)),
  };
  const answer = await askJson(io, url, { method: 'POST', headers, body });
  if (!answer.ok) throw answerError(answer, '');
  const { Response: response } = readAnswer(envelope, answer.json);
  const { data } = refusal.safeParse(response);
  if (data) throw faultOf(data.Error.Code, data.Error.Message);
  return response;
}

/** The pictures of a job that has ended, or null. Of several pictures some may have failed: they have no address. */
function picturesOf(response: unknown): ServicePicture[] | null {
  const { JobStatusCode: status, JobErrorCode, JobErrorMsg, ResultImage } = readAnswer(job, response);
  if (status === '1' || status === '2') return null;
  if (status !== '5') throw faultOf(JobErrorCode ?? '', JobErrorMsg ?? `the job has the status ${status}`);
  return (ResultImage ?? []).flatMap((url) => (url === '' ? [] : [{ url }]));
}

/** Hunyuan of Tencent Cloud: a job is submitted, and asked for until it has ended. It has one model, which requests do not name. */
export const hunyuanDriver: ImageDriver = {
  name: 'hunyuan',
  endpoint: 'https://hunyuan.tencentcloudapi.com',
  model: 'hunyuan-image',
  generate: (model, request, io) =>
    inCalls(model.picturesPerRequest ?? perRequest, request, async (part) => {
      const { refImage, count, width, height } = part;
      const drawn = refImage ? refImageSizes : sizes;
      const { JobId } = readAnswer(
        submitted,
        await call(io, model, 'SubmitHunyuanImageJob', {
          ...model.options,
          Prompt: wholePrompt(part),
          Resolution: nearestSize(model.sizes.length > 0 ? model.sizes : drawn, width, height).replace('x', ':'),
          Num: count,
          ...(refImage ? { ContentImage: { ImageBase64: refImage.bytes.toString('base64') } } : {}),
        }),
      );
      return untilDone(io, () => call(io, model, 'QueryHunyuanImageJob', { JobId }), picturesOf);
    }),
};
