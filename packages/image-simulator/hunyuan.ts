import { randomUUID } from 'node:crypto';
import { tc3Authorization } from '@tradepost/outbound-http';
import { countIn, jsonIn, openTasks, type Received, type Refusal, type Service, sidesIn } from './service.ts';

/** The id of the key. The key of the simulator is its secret. */
export const demoSecretId = 'AKIDdemo';

const version = '2023-09-01';
/** The largest difference of a timestamp. */
const maxSeconds = 300;

const answered = (fields: object) => ({ status: 200, answer: { Response: { ...fields, RequestId: randomUUID() } } });
/** Tencent Cloud answers refusals with status 200. */
const refused = (Code: string, Message: string) => ({ ...answered({ Error: { Code, Message } }), isRefused: true });
const faults: Readonly<Record<Refusal, [string, string]>> = {
  error: ['InternalError', 'simulated fault'],
  rate_limit: ['RequestLimitExceeded', 'Your current request times exceed the limit.'],
  policy: ['OperationDenied.TextIllegalDetected', 'The text contains illegal content.'],
};

/** Whether the request has the signature of this secret, over the headers that it names. */
function isSigned({ headers, body }: Received, secret: string): boolean {
  const given = headers.authorization ?? '';
  const names = /SignedHeaders=([\w;-]+)/.exec(given)?.[1]?.split(';') ?? [];
  const seconds = Number(headers['x-tc-timestamp']);
  if (!Number.isSafeInteger(seconds) || Math.abs(Date.now() / 1_000 - seconds) > maxSeconds) return false;
  if (!names.includes('host') || !names.includes('content-type')) return false;
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
  const request = { service: 'hunyuan', headers: signed, body: body.toString('utf8'), seconds };
  return given === tc3Authorization(request, { id: demoSecretId, secret });
}

/** The jobs of Hunyuan: `SubmitHunyuanImageJob` starts one, `QueryHunyuanImageJob` asks for its end. */
export function openHunyuanService(): Service {
  const tasks = openTasks();

  function submit(fields: Record<string, unknown>): ReturnType<Service['read']> {
    const { Prompt, Resolution, Num, ContentImage } = fields;
    const { ImageBase64 } = (ContentImage ?? {}) as { ImageBase64?: unknown };
    if (typeof Prompt !== 'string' || Prompt === '') return refused('MissingParameter', 'Prompt is required');
    if (Prompt.length > 1_024) return refused('InvalidParameterValue.TextLengthExceed', 'Prompt is too long');
    if (Resolution !== undefined && !/^\d+:\d+$/.test(String(Resolution)))
      return refused('InvalidParameterValue', 'Resolution must have the form width:height');
    const hasImage = typeof ImageBase64 === 'string' && ImageBase64 !== '';
    return {
      order: { prompt: Prompt, count: Math.min(4, countIn(Num)), hasImage, ...sidesIn(Resolution) },
      answer: (pictures, fault) => answered({ JobId: tasks.add(pictures, fault) }).answer,
    };
  }

  function query(id: string) {
    const asked = tasks.ask(id);
    if (!asked) return refused('FailedOperation.JobNotExist', 'the job does not exist');
    const { state, pictures } = asked;
    if (state === 'busy') return { ...refused(...faults.error), isRefused: false };
    if (state === 'running') return answered({ JobStatusCode: '2', JobStatusMsg: '处理中' });
    if (state !== 'done') {
      const [JobErrorCode, JobErrorMsg] = faults[state === 'failed' ? 'error' : 'policy'];
      return answered({ JobStatusCode: '4', JobStatusMsg: '处理失败', JobErrorCode, JobErrorMsg });
    }
    const ResultImage = pictures.map((picture) => ('url' in picture ? picture.url : ''));
    const ResultDetails = pictures.map(() => 'Success');
    return answered({ JobStatusCode: '5', JobStatusMsg: '处理完成', ResultImage, ResultDetails });
  }

  return {
    name: 'hunyuan',
    answersUrls: true,
    matches: ({ method, path, headers }) => method === 'POST' && path === '/' && headers['x-tc-action'] !== undefined,
    refusal: (reason) => refused(...faults[reason]),
    read(request, key) {
      const { headers } = request;
      if (!isSigned(request, key)) return refused('AuthFailure.SignatureFailure', `wrong: ${headers.authorization}`);
      if (headers['x-tc-version'] !== version || !headers['x-tc-region'])
        return refused('NoSuchVersion', 'the version or the region is wrong');
      const fields = jsonIn(request.body);
      if (headers['x-tc-action'] === 'SubmitHunyuanImageJob') return submit(fields);
      if (headers['x-tc-action'] === 'QueryHunyuanImageJob') return query(String(fields.JobId));
      return refused('InvalidAction', 'no such action');
    },
  };
}
