import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, serve, systemResources } from '@tradepost/http';
import { tokensService } from '@tradepost/identity';
import { declaredBy, type Module, openModules } from '@tradepost/module';
import { loadConfig, openLog, openRuntime, runAudits } from '@tradepost/runtime';
import { type Answer, call } from './client.ts';
import type { TestDatabase } from './servers/database.ts';
import { testKeyFile } from './servers/key-file.ts';
import { instantPayment, storeSettings } from './shop.ts';

/** A shop of these modules, for tests that add or omit a module. `all` has also those that are switched off. It runs no worker. */
export async function openModuleShop(
  database: TestDatabase,
  modules: readonly Module[],
  settings: Readonly<Record<string, unknown>> = {},
  all = modules,
) {
  await storeSettings(database, { ...instantPayment, ...settings });
  const data = await mkdtemp(join(tmpdir(), 'tradepost-modules-'));
  const { config } = loadConfig({
    env: {},
    flags: {
      ...{ databaseUrl: database.url, data, secretsKeyFile: testKeyFile },
      ...{ port: 0, seed: 'none', only: 'api', databasePool: 6 },
    },
  });
  const log = openLog({ level: process.env.TEST_LOG ?? 'silent' });
  const runtime = await openRuntime({ config, definitions: declaredBy(modules, 'settings', all), log });
  const closers = [() => runtime.close(), () => rm(data, { recursive: true, force: true })];
  const close = async () => {
    for (const closeOne of closers.splice(0)) await closeOne();
  };
  try {
    const opened = await openModules(runtime, modules);
    closers.unshift(opened.close);
    const { routes } = opened;
    const tokens = opened.context.service(tokensService);
    const resources = [...systemResources(runtime, routes, 'test'), ...opened.resources];
    const app = createApp({ routes, resources, authenticate: tokens.verify, runtime });
    const transport = await serve(app, config, log);
    closers.unshift(() => transport.close(1_000));
    return {
      ...{ runtime, routes, tokens, close, url: transport.url },
      call: (method: string, path: string, options?: Parameters<typeof call>[4]): Promise<Answer> =>
        call(transport.url, routes, method, path, options),
      /** A new shopper with one address. */
      async shopper() {
        const [row] = await database.sql<{ user_id: number; id: number }[]>`
          with made as (insert into identity.shoppers (nickname) values ('Ann') returning id)
          insert into identity.addresses (user_id, name, phone, is_default)
          select id, 'Ann', '13800000000', true from made returning user_id, id`;
        const token = await tokens.issue({ role: 'user', id: row!.user_id, perms: [] });
        return { id: row!.user_id, token, address_id: row!.id };
      },
      /** The audits of these modules that report a row or an error. */
      async brokenAudits(): Promise<string[]> {
        const results = await runAudits(database.sql, declaredBy(modules, 'audits'));
        return results.filter(({ total, error }) => total > 0 || error).map(({ name, error }) => error ?? name);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
export type ModuleShop = Awaited<ReturnType<typeof openModuleShop>>;
