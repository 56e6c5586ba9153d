import { createStaff } from '@tradepost/identity';
import { demoImageKey, type ImageSimulator, openImageSimulator } from '@tradepost/image-simulator';
import { type OpenedModules, openModules } from '@tradepost/module';
import { openLog } from '@tradepost/runtime';
import { storageModule } from '@tradepost/storage';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { aiImagesModule } from '../module.ts';
import { generateTask, watchTask } from '../tasks/task-jobs.ts';

export type ImageShop = Awaited<ReturnType<typeof openImageShop>>;

/** A shop that may reach the simulator at 127.0.0.1, and no other private address. Its jobs run when a test says so. */
export async function openImageShop(settings: Readonly<Record<string, unknown>> = {}) {
  const simulator: ImageSimulator = await openImageSimulator();
  const shop: Shop = await openShop({ allowedPrivateNetworks: '127.0.0.1', workerConcurrency: 4 }, settings);
  const { sql } = shop.database;
  const log = openLog({ level: 'silent' });
  const opened: OpenedModules = await openModules(shop.server.runtime, [storageModule, aiImagesModule]);
  const staffId = await createStaff(sql, { username: 'painter', password: 'painter-secret' });
  const staff = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: ['*'] });
  const call = (method: string, path: string, body?: unknown, token = staff, lang = 'en') =>
    shop.call(method, `/admin/api/ai${path}`, { token, body, lang });
  const endpoint = `${simulator.url}/v1`;
  return {
    ...{ shop, simulator, sql, staff, staffId, call, endpoint },
    /** Adds a model of the simulator. */
    async addModel(fields: Record<string, unknown> = {}) {
      const body = { name: 'Photos', driver: 'openai', endpoint, api_key: demoImageKey, ...fields };
      return (await call('POST', '/models', body)).data;
    },
    async generate(fields: Record<string, unknown> = {}) {
      return call('POST', '/generate', { prompt: 'an enamel mug', params: { count: 1 }, ...fields });
    },
    task: async (id: number, lang = 'en') => (await call('GET', `/tasks/${id}`, undefined, staff, lang)).data,
    /** Runs the job of a task once, as a worker does. */
    run: (id: number, signal = AbortSignal.timeout(30_000)) =>
      opened.tasks[generateTask]!({ task_id: id }, { log, signal }),
    watch: () => opened.tasks[watchTask]!({}, { log, signal: AbortSignal.timeout(5_000) }),
    jobs: () => sql<{ key: string; run_at: Date }[]>`
      select key, run_at from graphile_worker.jobs where task_identifier = ${generateTask} order by id`,
    async close() {
      await opened.close();
      await shop.close();
      await simulator.close();
    },
  };
}
