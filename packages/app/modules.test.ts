import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommands } from '@tradepost/cli';
import type { Route } from '@tradepost/http';
import { createStaff } from '@tradepost/identity';
import { declaredBy, type Module, type OpenedModule, openModules, staticEntriesOf } from '@tradepost/module';
import { paymentProviders } from '@tradepost/orders';
import { ConfigError, loadConfig, type Runtime } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { startProcess } from '@tradepost/testing/processes/process';
import { openShop, type Shop, storeSettings } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modules, modulesOf, startServer } from './index.ts';

/** A module that is switched off contributes nothing anywhere. */

const namesOf = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name);
const optional = modules.filter((module) => !module.required);

/** The module and those that need it, directly or through others. */
function withDependents(name: string): readonly string[] {
  const off = new Set([name]);
  for (const module of modules) if (module.needs?.some((need) => off.has(need))) off.add(module.name);
  return [...off];
}

/** The `modules` of a configuration without this module and without those that need it. */
const without = (name: string) => withDependents(name).map((each) => `-${each}`);
const runningWithout = (name: string) => modulesOf({ modules: without(name) as never });
const offWithout = (name: string) => modules.filter((module) => withDependents(name).includes(module.name));

function problemsOf(chosen: readonly string[]): readonly string[] {
  try {
    modulesOf({ modules: chosen as never });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the choice of modules', () => {
  test('runs all modules by default; a module comes after the modules it needs', () => {
    expect(modulesOf({ modules: undefined })).toBe(modules);
    for (const [index, { needs = [] }] of modules.entries())
      for (const need of needs) expect(namesOf(modules.slice(0, index))).toContain(need);
  });

  test.each(namesOf(optional))('without %s: the error names the modules that need it', (name) => {
    const direct = modules.filter((module) => module.needs?.includes(name));
    expect(problemsOf([`-${name}`])).toEqual(direct.map((module) => `modules: ${module.name} needs ${name}`));
    expect(problemsOf(without(name))).toEqual([]);
    expect(namesOf(runningWithout(name))).toEqual(
      namesOf(modules).filter((each) => !withDependents(name).includes(each)),
    );
  });

  test('a required module always runs and cannot be switched off', () => {
    const required = namesOf(modules.filter((module) => module.required));
    expect(required).toEqual(['runtime', 'identity']);
    for (const name of required) expect(problemsOf([`-${name}`])).toContain(`modules: ${name} cannot be switched off`);
    expect(namesOf(modulesOf({ modules: ['catalog'] }))).toEqual([...required, 'catalog']);
  });

  test('refuses an unknown name and a mixture; the message lists the modules', () => {
    const all = namesOf(modules).join(', ');
    expect(problemsOf(['-nothing'])).toEqual([`modules: there is no module nothing; there are ${all}`]);
    expect(problemsOf(['nothing'])).toEqual([`modules: there is no module nothing; there are ${all}`]);
    expect(problemsOf(['catalog', '-gateway'])).toEqual([
      'modules: give either names, or names with a minus before each',
    ]);
    expect(problemsOf(['orders'])).toEqual(['modules: orders needs catalog', 'modules: orders needs inventory']);
  });
});

/** The contribution of each module to a server. The modules are opened as `assemble` opens them. */
async function contributions(runtime: Runtime, running: readonly Module[]) {
  const parts = new Map<string, OpenedModule>();
  const recorded = running.map((module): Module => {
    const open: Module['open'] = async (context) => {
      const part = (await module.open?.(context)) ?? {};
      parts.set(module.name, part);
      return part;
    };
    return { ...module, open };
  });
  const opened = await openModules(runtime, recorded);
  await opened.close();
  const keysOf = (routes: readonly Route[]) => routes.map(({ method, path }) => `${method} ${path}`);
  const of = (name: string) => ({
    routes: keysOf(opened.routesOf(name)),
    resources: (parts.get(name)?.resources ?? []).map(({ path }) => path),
    tasks: Object.keys(parts.get(name)?.tasks ?? {}),
    crons: (parts.get(name)?.crons ?? []).map(({ task }) => task),
    permissions: opened.routesOf(name).flatMap(({ permission }) => permission ?? []),
  });
  const all = {
    routes: keysOf(opened.routes),
    resources: opened.resources.map(({ path }) => path),
    tasks: Object.keys(opened.tasks),
    crons: opened.crons.map(({ task }) => task),
    permissions: opened.routes.flatMap(({ permission }) => permission ?? []),
  };
  return { of, all };
}
type Contributed = Awaited<ReturnType<typeof contributions>>;

/** The endpoints for notices that the module orders opens for the payment providers of another module. */
const noticePathsOf = (runtime: Runtime, name: string): string[] =>
  staticEntriesOf(modules.filter((module) => module.name === name))(paymentProviders).flatMap((entry) => {
    if (entry.kind !== 'redirect') return [];
    const provider = entry.open(runtime);
    const paths = provider.notices?.({} as never).map(({ path }) => path) ?? [];
    void provider.stop?.();
    return paths;
  });

const lists = ['settings', 'audits', 'retention', 'doctorChecks'] as const;
const commands = await findCommands();

/** The keys or names in one list. Objects cannot be compared: some settings and audits are created for the modules that run. */
const idsIn = (running: readonly Module[], list: (typeof lists)[number]): readonly unknown[] =>
  declaredBy(running, list).map((entry) => ('key' in entry ? entry.key : 'name' in entry ? entry.name : entry));

describe('each module that can be switched off', () => {
  let shop: Shop;
  let full: Contributed;
  beforeAll(async () => {
    shop = await openShop();
    full = await contributions(shop.server.runtime, modules);
  }, 120_000);
  afterAll(() => shop?.close());

  test('all contributions together are the whole shop', () => {
    const keys = Object.keys(full.all) as (keyof Contributed['all'])[];
    for (const key of keys) expect(modules.flatMap(({ name }) => full.of(name)[key])).toEqual(full.all[key]);
    // Every module contributes something, so no case below is empty.
    for (const module of modules) {
      const served = Object.values(full.of(module.name)).flat().length;
      const declared = lists.reduce((sum, list) => sum + (module[list]?.length ?? 0), 0);
      const owned = commands.filter(({ owner }) => owner === module.name).length;
      expect(served + declared + owned, module.name).toBeGreaterThan(0);
    }
  });

  test.each(namesOf(optional))('without %s: the lists of settings, audits, retention and checks', (name) => {
    for (const list of lists) {
      const kept = idsIn(runningWithout(name), list);
      const off = idsIn(offWithout(name), list);
      expect(kept.filter((each) => off.includes(each))).toEqual([]);
      expect(new Set([...kept, ...off])).toEqual(new Set(idsIn(modules, list)));
    }
  });

  test.each(namesOf(optional))(
    'without %s: its routes, resources, tasks, crons and permissions are absent',
    async (name) => {
      const rest = await contributions(shop.server.runtime, runningWithout(name));
      const notices = noticePathsOf(shop.server.runtime, name);
      for (const key of Object.keys(full.all) as (keyof Contributed['all'])[])
        expect(rest.all[key]).toEqual(
          runningWithout(name)
            .flatMap((module) => full.of(module.name)[key])
            .filter((each) => !notices.includes(each)),
        );
    },
  );

  describe('on the command line', () => {
    let data: string;
    beforeAll(async () => {
      data = await mkdtemp(join(tmpdir(), 'tradepost-modules-'));
    });
    afterAll(() => rm(data, { recursive: true, force: true }));

    const running = (chosen: string, args: readonly string[]) =>
      runCommandInProcess(args, {
        env: { TRADEPOST_MODULES: chosen, TRADEPOST_DATA: data, DATABASE_URL: shop.database.url, PORT: '0' },
      });
    const tradepost = (name: string, ...args: string[]) => running(without(name).join(','), args);
    const json = async (name: string, ...args: string[]) =>
      JSON.parse((await tradepost(name, ...args, '--json')).stdout);

    test.each(namesOf(optional))('without %s: help, completion and the command itself', async (name) => {
      const { stdout: help } = await tradepost(name, '--help');
      const { stdout: completion } = await tradepost(name, 'completion', 'bash');
      const off = offWithout(name).map((module) => module.name);
      for (const command of commands)
        if (!command.group && !off.includes(command.owner))
          expect(help).toMatch(new RegExp(`^  ${command.name} `, 'm'));
      for (const command of commands.filter(({ owner }) => off.includes(owner))) {
        const words = command.group ? [command.group, command.name] : [command.name];
        const refused = await tradepost(name, ...words);
        expect(refused.code).toBe(2);
        expect(refused.stderr).toContain('unknown command');
        expect(completion).not.toContain(`'${words.join(' ')}'`);
        if (command.group) continue;
        expect(help).not.toMatch(new RegExp(`^  ${command.name} `, 'm'));
        expect(refused.stderr).toContain(`${command.name} belongs to the module ${command.owner}`);
      }
    });

    test.each(namesOf(optional))('without %s: settings, audit and retention', async (name) => {
      const keys = (await json(name, 'settings', 'list')).map((row: { key: string }) => row.key);
      const audits = (await json(name, 'audit', '--list')).map((row: { name: string }) => row.name);
      const rules = (await json(name, 'retention', 'list')).map((row: { name: string }) => row.name);
      expect(keys).toEqual(
        expect.arrayContaining(declaredBy(runningWithout(name), 'settings').map((setting) => setting.key)),
      );
      expect(audits).toEqual(namesOf(declaredBy(runningWithout(name), 'audits')));
      expect(rules).toEqual(namesOf(declaredBy(runningWithout(name), 'retention')));
      for (const { key } of declaredBy(offWithout(name), 'settings')) expect(keys).not.toContain(key);
      for (const audit of declaredBy(offWithout(name), 'audits').slice(0, 1)) {
        const refused = await tradepost(name, 'audit', '--only', audit.name);
        expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`no check ${audit.name}`) });
      }
    });

    test('audit --only refuses an unknown name, and runs the checks of a module that runs', async () => {
      const refused = await tradepost('gateway', 'audit', '--only', 'orders,nothing');
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no check nothing') });
      const made = await tradepost('gateway', 'audit', '--only', 'orders', '--json');
      expect(JSON.parse(made.stdout).checks.length).toBeGreaterThan(0);
      // A line for each check would fill the journal of the timer.
      expect(made.stderr).toBe('');
    });

    test('without gateway or without inventory: doctor skips its checks', async () => {
      await storeSettings(shop.database, {
        'gateway.upstreams': [{ name: 'main', base_url: 'http://127.0.0.1:1/v1', enabled: false }],
        'inventory.provider': 'external_wms',
      });
      const areasWithout = async (name: string): Promise<string[]> => {
        const { findings } = await json(name, 'doctor');
        return findings.map((finding: { area: string }) => finding.area);
      };
      try {
        const some = await areasWithout('demo');
        expect(some).toEqual(expect.arrayContaining(['accounts', 'settings', 'jobs', 'warehouse', 'gateway']));
        expect(await areasWithout('gateway')).toEqual(some.filter((area) => area !== 'gateway'));
        expect(await areasWithout('inventory')).not.toContain('warehouse');
      } finally {
        await shop.database.sql`
          delete from runtime.settings where key in ('gateway.upstreams', 'inventory.provider')`;
      }
    });

    test.each(['inventory', 'content', 'catalog'])('without %s: start prints its summary and serves', async (name) => {
      const env = { TRADEPOST_MODULES: without(name).join(','), DATABASE_URL: shop.database.url, TRADEPOST_DATA: data };
      const server = await startProcess(['--only', 'api', '--seed', 'none'], env, /Store {9}.*\n/);
      const url = /Shop API\s+(http:\S+)/.exec(server.output())![1];
      expect((await fetch(`${url}/health`)).status).toBe(200);
      server.child.kill('SIGTERM');
      expect(await server.ended).toBe(0);
    });

    test('every command refuses an impossible choice with exit code 2; doctor reports it as a finding', async () => {
      const needed = 'modules: inventory needs catalog';
      for (const args of [['settings', 'list'], ['audit', '--list'], ['retention', 'list'], ['start']])
        expect(await running('-catalog', args)).toMatchObject({ code: 2, stderr: expect.stringContaining(needed) });
      const { code, stdout } = await running('-catalog', ['doctor']);
      expect(code).toBe(1);
      expect(stdout).toContain(needed);
      expect((await running('-catalog', ['--help'])).code).toBe(0);
    });
  });
});

type Menus = { groups: { menus: { children: { path: string }[] }[] }[] };

/** The pages, permissions and operations that a client of this shop can see. */
async function seenBy(shop: Shop) {
  const id = await createStaff(shop.database.sql, { username: 'owner', password: 'a long password' });
  const token = await shop.server.tokens.issue({ role: 'admin', id, perms: ['*'] });
  const { data: menus } = (await shop.call('GET', '/admin/api/menus', { token })) as { data: Menus };
  const { data: permissions } = await shop.call('GET', '/admin/api/permissions', { token });
  const document = (await (await fetch(`${shop.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  return {
    token,
    pages: menus.groups.flatMap((group) => group.menus.flatMap((menu) => menu.children.map((child) => child.path))),
    permissions: permissions as string[],
    operations: Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    ),
  };
}

describe('a shop that runs without a module', () => {
  let whole: Shop;
  let seen: Awaited<ReturnType<typeof seenBy>>;
  let full: Contributed;
  beforeAll(async () => {
    whole = await openShop();
    seen = await seenBy(whole);
    full = await contributions(whole.server.runtime, modules);
  }, 120_000);
  afterAll(() => whole?.close());

  test.each(['gateway', 'inventory', 'fulfilment', 'demo'])(
    '%s: no endpoint, resource, page, permission or entry in the document',
    async (name) => {
      const shop = await openShop({ modules: without(name).join(',') });
      try {
        const found = await seenBy(shop);
        const off = withDependents(name).flatMap((each) => full.of(each).routes);
        const offResources = withDependents(name).flatMap((each) => full.of(each).resources);
        expect(off.length + offResources.length).toBeGreaterThan(0);
        expect(found.operations.sort()).toEqual(
          seen.operations
            .filter((operation) => !off.includes(operation))
            .filter((operation) => !offResources.includes(operation.slice(operation.indexOf(' ') + 1)))
            .sort(),
        );
        for (const route of off.filter((each) => !each.includes('*'))) {
          const [method = '', path = ''] = route.split(' ');
          const response = await fetch(`${shop.url}${path.replaceAll(/:\w+/g, '1')}`, {
            method,
            headers: { authorization: `Bearer ${found.token}` },
          });
          await response.body?.cancel();
          expect([404, 405], route).toContain(response.status);
        }
        for (const path of offResources)
          expect((await fetch(`${shop.url}${path.replaceAll(/:\w+/g, '1')}`)).status).toBe(404);
        const kept = new Set(
          modulesOf(shop.server.runtime.config).flatMap((module) => full.of(module.name).permissions),
        );
        const onlyOff = withDependents(name).flatMap((each) =>
          full.of(each).permissions.filter((code) => !kept.has(code)),
        );
        const asked = shop.server.routes.flatMap(({ permission }) => permission ?? []);
        expect(asked.filter((code) => onlyOff.includes(code))).toEqual([]);
        expect(seen.permissions).toEqual(expect.arrayContaining(found.permissions));
        expect(seen.pages).toEqual(expect.arrayContaining(found.pages));
      } finally {
        await shop.close();
      }
    },
    120_000,
  );

  test('gateway: its port may be taken, and an impossible choice is refused before any port is checked', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const ports = { host: '127.0.0.1', only: 'api,gateway', gatewayPort: port };
      const start = (flags: object) => {
        const { config } = loadConfig({ env: {}, flags: { databaseUrl: whole.database.url, ...ports, ...flags } });
        return startServer({ config });
      };
      // The data folder has no instance file, so a taken port is an error.
      const data = join(tmpdir(), 'tradepost-no-instance');
      await expect(start({ data, port: 0 })).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use`);
      await expect(start({ data, port, modules: '-catalog' })).rejects.toThrow('inventory needs catalog');
      const shop = await openShop({ ...ports, modules: without('gateway').join(',') });
      expect(shop.server.gateway).toBeNull();
      await shop.close();
    } finally {
      other.close();
    }
  });

  test('pages of the console disappear with the module that serves them', async () => {
    const pagesWithout = async (name: string) => {
      const shop = await openShop({ modules: without(name).join(',') });
      return seenBy(shop)
        .then(({ pages }) => pages)
        .finally(() => shop.close());
    };
    expect(seen.pages).toEqual(expect.arrayContaining(['/product/list', '/order/list', '/wms/stock']));
    // Without orders no module runs that serves after-sales, reviews or coupons.
    const pagesOf = (name: string) =>
      offWithout(name).flatMap(({ menu = [] }) => menu.flatMap(({ pages }) => pages.map(({ path }) => path)));
    const ofOrders = ['/order/list', '/order/after-sale/list', '/review/list', '/marketing/coupon'];
    expect(seen.pages).toEqual(expect.arrayContaining(ofOrders));
    expect(pagesOf('orders')).toEqual(expect.arrayContaining(ofOrders));
    expect(await pagesWithout('orders')).toEqual(seen.pages.filter((page) => !pagesOf('orders').includes(page)));
    expect(await pagesWithout('inventory')).toEqual(
      seen.pages.filter((page) => !pagesOf('orders').includes(page) && !page.startsWith('/wms/')),
    );
    expect(await pagesWithout('reviews')).toEqual(seen.pages.filter((page) => page !== '/review/list'));
  }, 120_000);
});
