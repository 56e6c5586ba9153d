import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchOptions, connections } from './alternating-runs.ts';
import { type LoadResult, runLoad } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import {
  type Cluster,
  freePort,
  type Process,
  startProcess,
  startShop,
  statementsOf,
  temporaryFolder,
} from './server.ts';
import { cpuSeconds } from './usage.ts';

const rounds = 3;
const path = '/api/v1/index/decor';

type Target = { name: string; server: Process; path: string; headers: Record<string, string>; code: string };
type Turn = { result: LoadResult; cpu: number | null; statements: number | null };

/** Publishes the mobile home page of the demo shop. Returns the text of the answer, and its ETag. */
async function publish({ url }: Process, { tokens }: Cluster): Promise<{ text: string; etag: string }> {
  const pages = await readFile(join(import.meta.dirname, '../../fixtures/demo/decor.json'), 'utf8');
  const token = await tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const send = async (method: string, to: string, body?: unknown) => {
    const response = await fetch(`${url}/admin/api/decor/${to}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { code: number; message: string };
    if (answer.code !== 0) throw new Error(`${method} ${to}: ${answer.message}`);
  };
  await send('PUT', 'index', { components: JSON.parse(pages).index });
  await send('POST', 'index/publish');
  const response = await fetch(url + path, { headers: { 'accept-language': 'en' } });
  return { text: await response.text(), etag: response.headers.get('etag') ?? '' };
}

async function turnOf(
  { name, server, path: asked, headers, code }: Target,
  seconds: number,
  isShop: boolean,
): Promise<Turn> {
  const data = { paths: [asked], headers };
  const job = { scenario: 'reads', data, port: server.port, connections, warmupSeconds: 1, seconds } as const;
  const cpuAt: Record<string, number | null> = {};
  const before = isShop ? await statementsOf(server) : null;
  const result = await runLoad(job, (edge) => {
    cpuAt[edge] = cpuSeconds(server.pid);
  });
  if (Object.keys(result.codes).join() !== code || result.failures.length > 0)
    throw new Error(`${name}: ${JSON.stringify(result.codes)} ${result.failures.join('; ')}`);
  const known = cpuAt.begin != null && cpuAt.end != null;
  progress(`${name}: ${Math.round(result.perSecond)}/s`);
  return {
    result,
    cpu: known ? ((cpuAt.end! - cpuAt.begin!) / result.units) * 1e6 : null,
    statements: before === null ? null : (await statementsOf(server)) - before,
  };
}

/** A published page from the cache of the process, compared with a server that only sends the same bytes. */
export async function decor(cluster: Cluster, { seconds }: BenchOptions): Promise<Section[]> {
  const folder = await temporaryFolder();
  // The Host of the load has no port, and the addresses of files begin with it.
  const shop = await startShop({
    env: { PUBLIC_URL: 'http://127.0.0.1' },
    data: folder.path,
    databaseUrl: cluster.url,
  });
  const { text, etag } = await publish(shop, cluster);
  const port = await freePort();
  const env = { PORT: String(port), BODY: text };
  const bare = await startProcess([join(import.meta.dirname, 'http-target.ts'), 'bare'], { port, env, path: '/ok' });
  const targets: readonly Target[] = [
    { name: 'bare uWebSockets.js, same body', server: bare, path: '/ok', headers: {}, code: '0' },
    { name: 'published page', server: shop, path, headers: {}, code: '0' },
    { name: 'published page, 304', server: shop, path, headers: { 'If-None-Match': etag }, code: 'HTTP 304' },
  ];
  const turns = targets.map((): Turn[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, target] of targets.entries())
      turns[index]!.push(await turnOf(target, seconds, target.server === shop));
  await bare.stop();
  await shop.stop();
  await folder.remove();
  const perSecond = turns.map((all) => mean(all.map(({ result }) => result.perSecond)));
  const rows = targets.map(({ name }, index): Row => {
    const all = turns[index]!;
    const results = all.map(({ result }) => result);
    return {
      target: name,
      'requests/s': perSecond[index]!,
      'of bare': perSecond[index]! / perSecond[0]!,
      'p50 ms': mean(results.map(({ p50 }) => p50)),
      'p99 ms': mean(results.map(({ p99 }) => p99)),
      'server CPU us': all.some(({ cpu }) => cpu === null) ? null : mean(all.map(({ cpu }) => cpu!)),
      'SQL of the run': all.some(({ statements }) => statements === null)
        ? null
        : mean(all.map((turn) => turn.statements!)),
    };
  });
  const title = `the mobile home page of the demo shop, ${text.length} characters, ${connections} connections, mean of ${rounds} runs`;
  return [{ title, rows, notes: ['SQL of the run includes polls of the worker and of settings'] }];
}
