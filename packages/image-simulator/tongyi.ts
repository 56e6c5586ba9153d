import { randomUUID } from 'node:crypto';
import {
  countIn,
  jsonIn,
  openTasks,
  type Picture,
  type Received,
  type Refusal,
  type Service,
  sidesIn,
} from './service.ts';

const submitPath = /\/services\/aigc\/(text2image|image2image)\/image-synthesis$/;
const taskPath = /\/tasks\/([\w-]+)$/;
const refused = (code: string, message: string) => ({ code, message, request_id: randomUUID() });
const refusals: Readonly<Record<Refusal, [number, string, string]>> = {
  error: [500, 'InternalError', 'simulated fault'],
  rate_limit: [429, 'Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.'],
  policy: [400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'],
};

const objectIn = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;

/** The answer about a task. */
function answerOf(id: string, state: string, pictures: readonly Picture[]) {
  const output = (fields: object) => ({
    status: 200,
    answer: { request_id: randomUUID(), output: { task_id: id, ...fields } },
  });
  const failed = (reason: Refusal) => {
    const [, code, message] = refusals[reason];
    return output({ task_status: 'FAILED', code, message });
  };
  if (state === 'running') return output({ task_status: 'RUNNING' });
  if (state === 'failed') return failed('error');
  if (state === 'refused') return failed('policy');
  return output({ task_status: 'SUCCEEDED', results: pictures });
}

/** The tasks of DashScope: `image-synthesis` submits one, `tasks/{id}` is asked for its end. */
export function openTongyiService(): Service {
  const tasks = openTasks();
  const refusal = (reason: Refusal) => {
    const [status, code, message] = refusals[reason];
    return { status, answer: refused(code, message) };
  };
  const invalid = (message: string) => ({ status: 400, answer: refused('InvalidParameter', message) });

  function submit({ path, headers, body }: Received): ReturnType<Service['read']> {
    const { model, input, parameters } = jsonIn(body);
    const { prompt, images } = objectIn(input);
    const { size, n } = objectIn(parameters);
    const hasImage = Array.isArray(images) && /^data:image\/\w+;base64,./.test(String(images[0]));
    if (headers['x-dashscope-async'] !== 'enable')
      return { status: 403, answer: refused('AccessDenied', 'current user api does not support synchronous calls.') };
    if (typeof model !== 'string' || model === '') return { status: 404, answer: refused('ModelNotFound', 'no model') };
    if (typeof prompt !== 'string' || prompt === '') return invalid('prompt is required');
    if (path.includes('/image2image/') && !hasImage) return invalid('images is required');
    if (size !== undefined && !/^\d+\*\d+$/.test(String(size))) return invalid('size must have the form width*height');
    return {
      order: { prompt, count: Math.min(4, countIn(n)), hasImage, ...sidesIn(size) },
      answer: (pictures, fault) => ({
        output: { task_status: 'PENDING', task_id: tasks.add(pictures, fault) },
        request_id: randomUUID(),
      }),
    };
  }

  return {
    name: 'tongyi',
    answersUrls: true,
    matches: ({ method, path }) => (method === 'POST' ? submitPath : taskPath).test(path),
    refusal,
    read(request, key) {
      if (request.headers.authorization !== `Bearer ${key}`)
        return { status: 401, answer: refused('InvalidApiKey', `Invalid API-key: ${request.headers.authorization}`) };
      if (request.method === 'POST') return submit(request);
      const id = taskPath.exec(request.path)![1]!;
      const asked = tasks.ask(id);
      if (!asked) return { status: 200, answer: { output: { task_id: id, task_status: 'UNKNOWN' } } };
      return asked.state === 'busy'
        ? { ...refusal('error'), isRefused: false }
        : answerOf(id, asked.state, asked.pictures);
    },
  };
}
