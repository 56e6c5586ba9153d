import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from '@tradepost/app';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openTokens } from '@tradepost/identity';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { connections, shoppers, stockOfEach } from './alternating-runs.ts';
import { mustSucceed, runLoad } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { seedBuyers, seedSkus } from './seed.ts';
import { type Cluster, postmasterOf, startShop, temporaryFolder } from './server.ts';
import { proportionalMb, readable, residentMb } from './usage.ts';

const repeats = 3;
const loadSeconds = 10;
const idleMs = 5_000;
const apiLimitMb = 250;

/** Measures the time from the start of the command to an answered /health, with a new data folder and with a used one. */
async function startTimes(): Promise<Section> {
  const rows: Row[] = [];
  for (let n = 1; n <= repeats; n++) {
    const folder = await temporaryFolder();
    const times: number[] = [];
    for (let start = 0; start < 2; start++) {
      const server = await startShop({ data: folder.path });
      times.push(server.startedMs);
      await server.stop();
    }
    await folder.remove();
    progress(`start ${n}: first ${Math.round(times[0]!)} ms, later ${Math.round(times[1]!)} ms`);
    rows.push({ start: String(n), 'first ms': times[0]!, 'later ms': times[1]! });
  }
  const of = (column: string) => mean(rows.map((row) => row[column] as number));
  rows.push({ start: 'mean', 'first ms': of('first ms'), 'later ms': of('later ms') });
  return { title: 'from spawn to a served /health, embedded database', rows };
}

/** Adds buyers and products to the database of a running server. */
async function seedBeside(data: string) {
  const postgres = await startEmbeddedPostgres({ directory: join(data, 'postgres') });
  const { config } = loadConfig({ env: {}, flags: { databaseUrl: postgres.url, data, databasePool: 2 } });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'warn' }) });
  const tokens = await openTokens(runtime);
  const buyers = await seedBuyers(runtime.sql, tokens, shoppers);
  const skus = await seedSkus(runtime.sql, 500, stockOfEach);
  await tokens.close();
  await runtime.close();
  return { buyers, skus, postmaster: postmasterOf(postgres.dataDirectory) };
}

async function memory(): Promise<Section> {
  const title = `resident memory, idle and after ${loadSeconds} s of orders (${connections} connections)`;
  if (!readable) return { title, rows: [], notes: ['skipped: it needs /proc, which only Linux has'] };
  const folder = await temporaryFolder();
  const server = await startShop({ data: folder.path });
  const { buyers, skus, postmaster } = await seedBeside(folder.path);
  await sleep(idleMs);
  const read = (state: string): Row => ({
    state,
    'API MB (VmRSS)': residentMb(server.pid),
    'PostgreSQL MB (PSS)': proportionalMb(postmaster),
  });
  const rows = [read('idle')];
  const load = { port: server.port, connections, warmupSeconds: 0, seconds: loadSeconds } as const;
  const result = await runLoad({ ...load, scenario: 'orders', data: { buyers, skus, lines: 2 } });
  mustSucceed(result, 'orders');
  rows.push(read('after the load'));
  await server.stop();
  await folder.remove();
  const most = Math.max(...rows.map((row) => row['API MB (VmRSS)'] as number));
  const broken =
    most > apiLimitMb ? `the API process took ${Math.round(most)} MB, more than ${apiLimitMb} MB` : undefined;
  return { title, rows, notes: [`${result.units} orders placed`], broken };
}

export async function boot(_cluster: Cluster): Promise<Section[]> {
  return [await startTimes(), await memory()];
}
