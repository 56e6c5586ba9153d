import { modulesOf } from '@tradepost/app';
import { openModules } from '@tradepost/module';
import type { Shop } from './shop.ts';

/** Runs a task of a shop that runs no worker, as a job or a cron does. */
export async function runTask(shop: Shop, task: string, payload: unknown = {}): Promise<void> {
  const { runtime } = shop.server;
  const { tasks, close } = await openModules(runtime, modulesOf(runtime.config));
  try {
    const handler = tasks[task];
    if (!handler) throw new Error(`no module has the task ${task}`);
    await handler(payload, { log: runtime.log, signal: new AbortController().signal });
  } finally {
    await close();
  }
}
