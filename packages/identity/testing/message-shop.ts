import { declaredBy, type Module, openModules } from '@tradepost/module';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { shopperNotices } from '../messages/notices.ts';
import { identityModule } from '../module.ts';

/** A module of another package with two notices. */
const parcels: Module = {
  name: 'parcels',
  entries: [
    shopperNotices.add({
      name: 'parcel_ready',
      about: 'a parcel is ready',
      params: ['order_no', 'place'],
      texts: { en: 'Order {order_no} is ready at {place}.', 'zh-CN': '订单 {order_no} 已到达 {place}。' },
    }),
    shopperNotices.add({
      name: 'parcel_lost',
      about: 'a parcel was lost',
      params: ['order_no'],
      texts: { en: 'Order {order_no} was lost.', 'zh-CN': '订单 {order_no} 已丢失。' },
    }),
  ],
};
export const messageModules: readonly Module[] = [identityModule, parcels];

/** The runtime and the tasks of a worker with these modules; the others are switched off. It starts no jobs by itself. */
export async function openMessageWorker(databaseUrl: string, running = messageModules) {
  const { config } = loadConfig({
    env: {},
    flags: { databaseUrl, secretsKeyFile: testKeyFile, seed: 'none', only: 'worker', databasePool: 4 },
  });
  const log = openLog({ level: process.env.TEST_LOG ?? 'silent' });
  const runtime = await openRuntime({ config, definitions: declaredBy(running, 'settings', messageModules), log });
  const opened = await openModules(runtime, running).catch(async (error: unknown) => {
    await runtime.close();
    throw error;
  });
  return {
    runtime,
    log,
    tasks: opened.tasks,
    /** Runs a task as a worker does. */
    run: (task: string, payload: unknown, signal = AbortSignal.timeout(60_000)) =>
      opened.tasks[task]!(payload, { log, signal }),
    async close() {
      await opened.close();
      await runtime.close();
    },
  };
}
export type MessageWorker = Awaited<ReturnType<typeof openMessageWorker>>;

/** As a program of its own, it sends one batch of messages. Arguments: the database and the batch. */
if (process.argv[1] === import.meta.filename) {
  const [databaseUrl = '', batch = ''] = process.argv.slice(2);
  const worker = await openMessageWorker(databaseUrl);
  await worker.run('identity.send_messages', { batch });
  await worker.close();
}
