import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schemaOf } from '../../packages/client/generate.ts';
import { compiler, packAll } from '../../publish/pack.ts';

/**
 * The packed packages in an empty project: installed, run without TypeScript, and compiled together with a client that
 * other tools generate from the API document.
 */
const run = promisify(execFile);
const modules = join(import.meta.dirname, '../../node_modules');
let project: string;
let shop: Shop;
let tarballs: Record<string, string>;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'tradepost-packed-'));
  [shop, tarballs] = await Promise.all([openShop({ seed: 'demo' }), packAll(join(project, 'tarballs'))]);
  await writeFile(join(project, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }');
  const offline = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...offline, tarballs.client!], { cwd: project });
  // Without a registry npm cannot install the dependencies of the limiter. They are those of the checkout.
  const limiter = join(project, 'node_modules/@tradepost/rate-limiter');
  await mkdir(limiter, { recursive: true });
  await run('tar', ['-xzf', tarballs['rate-limiter']!, '-C', limiter, '--strip-components=1']);
}, 120_000);
afterAll(async () => {
  await shop?.close();
  if (project) await rm(project, { recursive: true, force: true });
});

const link = async (...names: string[]) => {
  for (const name of names) {
    await mkdir(join(project, 'node_modules', name, '..'), { recursive: true });
    await symlink(join(modules, name), join(project, 'node_modules', name));
  }
};
/** Runs a script of the project with a Node that does not read TypeScript. */
async function runScript(name: string, source: string): Promise<string> {
  await writeFile(join(project, name), source);
  return (await run(process.execPath, ['--no-experimental-strip-types', name], { cwd: project })).stdout;
}

test('the client installs without a dependency, and lists products, logs in and orders once', async () => {
  expect(await readdir(join(project, 'node_modules/@tradepost'))).toContain('client');
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
  expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/@tradepost/client']);
  const output = await runScript(
    'shop.js',
    `import { createClient, RefusalError } from '@tradepost/client';
    const visitor = createClient({ url: '${shop.url}', lang: 'en' });
    let products = 0;
    for await (const product of visitor.items('/api/v1/products', { query: { size: 100 } })) products += 1;
    const { token } = await visitor.post('/api/auth/login', { body: { username: 'demo', password: 'demo123456' } });
    const shopper = visitor.with({ token, retry: 2 });
    const body = { address_id: 1, items: [{ sku_id: 1 }] };
    const order = await shopper.post('/api/v1/orders', { body, idempotencyKey: true });
    const refusal = await shopper.get('/api/v1/orders/{id}', { path: { id: 999999 } }).catch((error) => error);
    console.log(JSON.stringify({ products, status: order.status, refusal: refusal instanceof RefusalError && refusal.code }));`,
  );
  const [{ n }] = await shop.database.sql<[{ n: number }]>`select count(*)::int as n from catalog.products`;
  expect(JSON.parse(output)).toEqual({ products: n, status: 1, refusal: 404 });
});

test('the rate limiter runs from its tarball', async () => {
  await link('@redis/client', 'cluster-key-slot', 'lru-cache');
  const output = await runScript(
    'limit.js',
    `import { openEmbeddedLimiter, openRedisLimiter } from '@tradepost/rate-limiter';
    const limiter = openEmbeddedLimiter({ memoryMb: 1 });
    const limits = { user_rpm: 2, user_tpm: 0, token_rpm: 0, token_tpm: 0, ip_rpm: 0, model_rpm: 0, model_tpm: 0 };
    const subject = { user: 42, token: null, ip: null, model: null };
    const verdicts = [1, 2, 3].map(() => limiter.check(subject, limits, 0).admitted);
    await limiter.close();
    console.log(JSON.stringify({ verdicts, redis: typeof openRedisLimiter }));`,
  );
  expect(JSON.parse(output)).toEqual({ verdicts: [true, true, false], redis: 'function' });
});

const usesOfPackages = `import { createClient, type RefusalCode, RefusalError } from '@tradepost/client';
import { openEmbeddedLimiter } from '@tradepost/rate-limiter';
const shop = createClient({ url: 'https://shop.example' });
export const names = async () => {
  const titles: string[] = [];
  for await (const product of shop.items('/api/v1/products', { query: { size: 5 } })) titles.push(product.title);
  return titles;
};
export const codeOf = (error: unknown): RefusalCode | null => (error instanceof RefusalError ? error.code : null);
// @ts-expect-error the shop has no such code
export const isUnknown = (error: RefusalError) => error.code === 123456;
// @ts-expect-error the path does not exist
shop.get('/api/v1/product');
export const limiter = openEmbeddedLimiter({ memoryMb: 1 });
`;
const usesOfDocument = `import createFetch from 'openapi-fetch';
import type { operations, paths } from './schema.ts';
const api = createFetch<paths>({ baseUrl: 'https://shop.example' });
export async function place(): Promise<number> {
  const { data: answer } = await api.POST('/api/v1/orders', { body: { address_id: 1, items: [{ sku_id: 1 }] } });
  if (!answer) return 0;
  // @ts-expect-error a refusal has no order
  answer.data.id;
  if (answer.code === 0) return answer.data.id + answer.data.total_amount;
  return answer.message === '' ? 0 : answer.code;
}
export type Names = operations['postApiV1Orders'] & operations['getApiV1OrdersId'];
`;

test('types: the packages, and openapi-fetch with the types that openapi-typescript makes of the document', async () => {
  await link('openapi-fetch', 'openapi-typescript-helpers', '@types/node', 'undici-types');
  const document = (await (await fetch(`${shop.url}/openapi.json`)).json()) as object;
  const schema = (await schemaOf(document)).replace('interface operations', 'export interface operations');
  await writeFile(join(project, 'schema.ts'), schema);
  await writeFile(join(project, 'packages.ts'), usesOfPackages);
  await writeFile(join(project, 'document.ts'), usesOfDocument);
  // One run of the compiler. It checks the types of the packages too.
  const options = ['--strict', '--noEmit', '--skipLibCheck', 'false', '--module', 'nodenext', '--types', 'node'];
  const lib = ['--target', 'es2022', '--lib', 'es2023,dom,dom.iterable,dom.asynciterable'];
  const files = ['packages.ts', 'document.ts', '--allowImportingTsExtensions'];
  const compiled = await run(process.execPath, [compiler(), '--ignoreConfig', ...options, ...lib, ...files], {
    cwd: project,
  }).catch((error: { stdout: string }) => error);
  expect(compiled.stdout).toBe('');
}, 60_000);
