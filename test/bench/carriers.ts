import { setTimeout as sleep } from 'node:timers/promises';
import { demoAccounts } from '@tradepost/carrier-simulator';
import type { Sql } from '@tradepost/postgres';
import { startBackgroundProcess } from './background-process.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { type Cluster, freePort, startProcess, temporaryFolder } from './server.ts';

/** Shipments that are due when the processes start. */
const backlog = 4_000;
const latencyMs = 50;
/** Processes of each turn. The turns alternate, so that other work of the machine affects both. */
const turns = [1, 2, 1, 2] as const;

async function startSimulator(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const args = ['bin/tradepost.ts', 'carriers', 'simulate', '--port', String(port), '--json'];
  return startProcess([...args, '--latency-ms', String(latencyMs)], { port, env: {}, path: '/_counters' });
}

async function prepare(sql: Sql, url: string, turn: number): Promise<void> {
  await sql`truncate fulfilment.shipments, fulfilment.shipment_tracks, fulfilment.shipment_sync_logs`;
  const settings = {
    'logistics_router.polling_enabled': true,
    'logistics_kuaidi100.api_url': `${url}/poll/query.do`,
    'logistics_kuaidi100.customer': demoAccounts.kuaidi100.customer,
    'logistics_kuaidi100.key': demoAccounts.kuaidi100.key,
  };
  await sql`
    insert into runtime.settings (key, value) select key, value from jsonb_each(${sql.json(settings)})
    on conflict (key) do update set value = excluded.value`;
  await sql`
    insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, company, tracking_no, logistics_status, shipped_at)
    select n, 'express', 'outbound', 'initial', 'ZTO', ${`T${turn}-`} || n, 'shipped', now() from generate_series(1, ${backlog}) as n`;
  await sql`analyze fulfilment.shipments`;
}

/** Runs processes until no shipment is left. Returns the shipments per second, without the first tenth: the start of the processes. */
async function measureTurn(cluster: Cluster, data: string, processes: number): Promise<number> {
  const { sql } = cluster;
  const left = async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from fulfilment.shipments where last_sync_ok_at is null`;
    return row!.n;
  };
  const env = { DATABASE_URL: cluster.url, TRADEPOST_DATA: data };
  const stops = Array.from({ length: processes }, () => startBackgroundProcess(['daemons/carrier-sync.ts'], env));
  const marks: { at: number; left: number }[] = [];
  for (;;) {
    marks.push({ left: await left(), at: performance.now() });
    const last = marks.at(-1)!;
    if (last.left === 0) break;
    if (last.at - marks[0]!.at > 120_000) throw new Error(`${last.left} shipments are left after two minutes`);
    await sleep(50);
  }
  for (const stop of stops) await stop();
  const from = marks.find((mark) => mark.left <= backlog * 0.9)!;
  const to = marks.at(-1)!;
  return from.left / ((to.at - from.at) / 1000);
}

/** Checks that each shipment of this turn was queried once and has its events. */
async function mustAgree(sql: Sql, url: string, turn: number): Promise<void> {
  const { seen } = (await (await fetch(`${url}/_counters`)).json()) as { seen: Record<string, number> };
  const ofTurn = Object.entries(seen).filter(([no]) => no.startsWith(`T${turn}-`));
  const repeated = ofTurn.filter(([, times]) => times !== 1).length;
  const [row] = await sql<{ tracks: number }[]>`select count(*)::int as tracks from fulfilment.shipment_tracks`;
  if (ofTurn.length !== backlog || repeated > 0 || row!.tracks !== backlog * 3)
    throw new Error(`${ofTurn.length} shipments queried, ${repeated} of them repeatedly; ${row!.tracks} events`);
}

/** Measures shipments that one and two processes sync with a carrier service that answers after 50 ms. */
export async function carriers(cluster: Cluster): Promise<Section[]> {
  const simulator = await startSimulator();
  const folder = await temporaryFolder();
  const rates: Record<1 | 2, number[]> = { 1: [], 2: [] };
  for (const [turn, processes] of turns.entries()) {
    await prepare(cluster.sql, simulator.url, turn);
    const rate = await measureTurn(cluster, folder.path, processes);
    await mustAgree(cluster.sql, simulator.url, turn);
    progress(`${processes} ${processes === 1 ? 'process' : 'processes'}: ${Math.round(rate)} shipments/s`);
    rates[processes].push(rate);
  }
  await simulator.stop();
  await folder.remove();
  return [
    {
      title: `a backlog of ${backlog.toLocaleString('en')} shipments, a service that answers after ${latencyMs} ms, 8 queries at once per process`,
      rows: [
        ...([1, 2] as const).map(
          (processes): Row => ({
            processes,
            ...{
              'turn 1 /s': rates[processes][0]!,
              'turn 2 /s': rates[processes][1]!,
              'mean /s': mean(rates[processes]),
            },
          }),
        ),
        { processes: '2 / 1', 'mean /s': mean(rates[2]) / mean(rates[1]) },
      ],
      notes: ['after every turn: each shipment was queried once and has its three events'],
    },
  ];
}
