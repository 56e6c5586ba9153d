import type { Log, Runtime } from '@tradepost/runtime';
import type { Uploads } from '@tradepost/storage';
import type { AiImageMetrics } from '../ai-image-metrics.ts';
import { type ImageDriver, type PictureRequest, ServiceError, type ServiceModel } from '../drivers/driver.ts';
import { readPicture, type ServiceNetwork } from '../drivers/service-network.ts';
import { type ImageModel, selectModel } from '../models/model-store.ts';
import { maxAttempts, requestSeconds } from '../settings.ts';
import { modelSecret } from '../tables.ts';
import { readRefImage } from './read-ref-image.ts';
import { failureOf } from './task-failure.ts';
import { enqueueAttempts } from './task-jobs.ts';
import { claimTask, completeTask, failTask, type ImageTask, type TaskFailure } from './task-store.ts';

export type TaskDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'settings' | 'secrets' | 'now'>;
  readonly drivers: readonly ImageDriver[];
  readonly uploads: Pick<Uploads, 'find' | 'checkReady' | 'storeFiles'>;
  readonly network: ServiceNetwork;
  readonly metrics: AiImageMetrics;
};

/** The task has ended, or a later attempt has begun: the pictures of this one are not needed. */
class TaskTakenError extends Error {
  override name = 'TaskTakenError';
}

const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
const pauseMs = (attempts: number, retryAfterMs: number): number =>
  Math.max(retryAfterMs, Math.min(firstPauseMs * 2 ** (attempts - 1), longestPauseMs));

function serviceModel(
  { runtime }: TaskDeps,
  { id, endpoint, api_key_sealed, params }: ImageModel,
  driver: ImageDriver,
) {
  let apiKey = '';
  try {
    if (api_key_sealed !== null) apiKey = runtime.secrets.open(modelSecret(id), api_key_sealed);
  } catch {
    // The key file of the shop is missing: `tradepost doctor` reports it.
    throw new ServiceError('model_gone', '', { permanent: true });
  }
  return {
    ...{ endpoint, apiKey, model: params.model || driver.model, sizes: params.sizes ?? [] },
    picturesPerRequest: params.images_per_request ?? null,
    responseFormat: params.response_format ?? null,
    options: params.options ?? {},
  } satisfies ServiceModel;
}

async function* oneChunk(bytes: Buffer) {
  yield bytes;
}

/** The pictures of one attempt, as contents of files. An address is read when its content is. */
async function contentsOf(
  deps: TaskDeps,
  model: ServiceModel,
  driver: ImageDriver,
  task: ImageTask,
  signal: AbortSignal,
) {
  const { width, height, count, style = null } = task.params;
  const refImage = await readRefImage(deps, task.ref_image_url, signal);
  const request: PictureRequest = {
    width,
    height,
    count,
    style,
    prompt: task.prompt,
    negPrompt: task.neg_prompt,
    refImage,
  };
  const io = { fetch: deps.network.fetch, signal };
  const pictures = await driver.generate(model, request, io);
  const fetch = await deps.network.pictureFetch(model.endpoint);
  return pictures.map((picture) =>
    'bytes' in picture ? oneChunk(picture.bytes) : readPicture(fetch, picture.url, signal),
  );
}

/** Makes the pictures and stores them with the end of the task. */
async function attempt(deps: TaskDeps, task: ImageTask, model: ServiceModel, driver: ImageDriver, signal: AbortSignal) {
  const { sql } = deps.runtime;
  deps.uploads.checkReady();
  const contents = await contentsOf(deps, model, driver, task, signal);
  await deps.uploads.storeFiles({
    contents,
    imagesOnly: true,
    owner: { role: 'admin', id: task.staff_id },
    write: (work) => sql.begin(work) as never,
    async record(tx, files) {
      const addresses = files.map(({ address }) => address);
      if (!(await completeTask(tx, task, addresses))) throw new TaskTakenError();
    },
  });
}

/** Ends the task, or enqueues its next attempt. */
async function afterFailure(deps: TaskDeps, task: ImageTask, error: unknown, apiKey: string, log: Log): Promise<void> {
  const { sql, settings, now } = deps.runtime;
  const { permanent, retryAfterMs, ...failure } = failureOf(error, apiKey);
  const next = new Date(now().getTime() + pauseMs(task.attempts, retryAfterMs));
  const isLast = permanent || task.attempts >= settings.get(maxAttempts) || next >= task.deadline_at;
  log.info({ image_task: task.id, failure: failure.name, attempts: task.attempts, isLast }, 'an image task failed');
  if (!isLast) return sql.begin((tx) => enqueueAttempts(tx, [task.id], next)) as unknown as Promise<void>;
  if (await failTask(sql, task, failure)) deps.metrics.tasks.inc({ result: 'failed' });
}

/** The end of a task that another attempt cannot help: its attempts were interrupted, or its time is over. */
function endOf(deps: TaskDeps, task: ImageTask): TaskFailure | null {
  const { settings, now } = deps.runtime;
  const times = task.attempts - 1;
  if (task.deadline_at <= now()) {
    const minutes = Math.ceil((task.deadline_at.getTime() - task.created_at.getTime()) / 60_000);
    return { name: 'too_late', values: { minutes } };
  }
  return times >= settings.get(maxAttempts) ? { name: 'interrupted', values: { times } } : null;
}

/**
 * One attempt of a task. It is safe to run twice: the later attempt takes the task, and only one of them stores pictures. A kill
 * at any point leaves a job, and the task is ended at the latest after its deadline.
 */
export async function runTask(deps: TaskDeps, id: number, context: { log: Log; signal: AbortSignal }): Promise<void> {
  const { sql, settings, now } = deps.runtime;
  const task = await claimTask(sql, id);
  if (!task) return;
  const end = endOf(deps, task);
  if (end) {
    if (await failTask(sql, task, end)) deps.metrics.tasks.inc({ result: 'failed' });
    return;
  }
  const leftMs = task.deadline_at.getTime() - now().getTime();
  const timeout = AbortSignal.timeout(Math.min(settings.get(requestSeconds) * 1_000, leftMs));
  const startedAt = now().getTime();
  let apiKey = '';
  try {
    const row = await selectModel(sql, task.model_id);
    const driver = deps.drivers.find(({ name }) => name === row?.driver);
    if (row?.status !== 1 || !driver) throw new ServiceError('model_gone', '', { permanent: true });
    const model = serviceModel(deps, row, driver);
    ({ apiKey } = model);
    await attempt(deps, task, model, driver, AbortSignal.any([context.signal, timeout]));
    deps.metrics.tasks.inc({ result: 'done' });
    deps.metrics.seconds.observe((now().getTime() - task.created_at.getTime()) / 1_000);
  } catch (error) {
    if (error instanceof TaskTakenError) return;
    // The job runs again. Its queue stores the error, so it has no reason of the service, which can quote the key.
    if (context.signal.aborted) throw new Error('the worker is being stopped');
    await afterFailure(deps, task, error, apiKey, context.log);
  } finally {
    deps.metrics.attemptSeconds.observe((now().getTime() - startedAt) / 1_000);
  }
}
