import { parseTarget } from '@tradepost/outbound-http';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import type { Uploads } from '@tradepost/storage';
import type { ServiceNetwork } from '../drivers/service-network.ts';
import { aiImageErrors } from '../errors.ts';
import { selectModel } from '../models/model-store.ts';
import { deadlineMinutes, runningPerStaff, runningTasks } from '../settings.ts';
import { enqueueAttempts } from './task-jobs.ts';
import type { GenerateBody } from './task-schemas.ts';
import { countRunning, type ImageTask, insertTasks } from './task-store.ts';

export type CreateDeps = {
  readonly runtime: Pick<Runtime, 'settings'>;
  readonly uploads: Pick<Uploads, 'find'>;
  readonly guard: ServiceNetwork['guard'];
};

/** Refuses a reference image that is neither an upload of this shop nor an http address that may be read. */
export async function checkRefImage({ uploads, guard }: CreateDeps, address: string): Promise<void> {
  if (address === '') return;
  const upload = await uploads.find(address);
  if (upload?.mime.startsWith('image/')) return;
  const target = parseTarget(address);
  if (upload || typeof target === 'string' || (await guard.check(target)) === 'private_address')
    throw aiImageErrors.ref_image_unknown();
}

/** Adds a task for the pictures of `body` and enqueues its first attempt. The caller has checked the reference image. */
export async function createTask(
  tx: Transaction,
  { runtime: { settings } }: CreateDeps,
  staffId: number,
  { model_id, ...body }: GenerateBody,
): Promise<ImageTask> {
  const model = await selectModel(tx, model_id);
  if (!model) throw model_id === 0 ? aiImageErrors.no_default_model() : aiImageErrors.model_not_found();
  if (model.status !== 1) throw aiImageErrors.model_disabled({ name: model.name });
  if (body.ref_image_url !== '' && !model.supports_ref_image) throw aiImageErrors.no_ref_image({ name: model.name });
  const running = await countRunning(tx, staffId);
  const [perStaff, perShop] = [settings.get(runningPerStaff), settings.get(runningTasks)];
  if (running.own >= perStaff) throw aiImageErrors.too_many_of_staff({ max: perStaff });
  if (running.all >= perShop) throw aiImageErrors.too_many_tasks({ max: perShop });
  const task = { ...body, model_id: model.id, model_name: model.name, staff_id: staffId };
  const [row] = await insertTasks(tx, [task], settings.get(deadlineMinutes));
  await enqueueAttempts(tx, [row!.id]);
  return row!;
}
