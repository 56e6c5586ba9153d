import { parseArgs } from 'node:util';
import { cleanUp } from '@tradepost/testing/processes/cleanup';
import type { BenchOptions } from './alternating-runs.ts';
import { backup } from './backup.ts';
import { boot } from './boot.ts';
import { carriers } from './carriers.ts';
import { dashboard } from './dashboard.ts';
import { decor } from './decor.ts';
import { flashSale } from './flash-sale.ts';
import { gateway } from './gateway.ts';
import { gatewayBodies } from './gateway-bodies.ts';
import { http } from './http.ts';
import { inventory } from './inventory.ts';
import { type LimiterPart, limiter, limiterParts } from './limiter.ts';
import { orders } from './orders.ts';
import { pricing } from './pricing.ts';
import { purchase } from './purchase.ts';
import { type Context, contextOf, progress, type Section, textOf } from './report.ts';
import { scale } from './scale.ts';
import { type Cluster, startCluster } from './server.ts';
import { uploads } from './uploads.ts';
import { webhooks } from './webhooks.ts';

type Options = BenchOptions & { only?: LimiterPart | undefined };
type Bench = { about: string } & (
  | { run(cluster: Cluster, options: Options): Promise<Section[]> }
  /** Without a database. */
  | { runAlone(options: Options): Promise<Section[]> }
);

const benches: Record<string, Bench> = {
  orders: {
    about: 'orders/s over HTTP, group commit against one transaction per order; many SKUs, one hot SKU',
    run: orders,
  },
  'flash-sale': {
    about:
      'orders/s of one activity SKU compared with a plain hot SKU, the exact cap, activity lists beside product lists',
    run: flashSale,
  },
  purchase: {
    about: 'whole purchases/s: two cart adds, order, payment; without and with promotions',
    run: purchase,
  },
  pricing: { about: 'lines/s of the price pipeline alone, with all steps and with none', run: pricing },
  inventory: {
    about: 'orders/s by inventory provider; tasks delivered/s compared with the rate of empty jobs',
    run: inventory,
  },
  carriers: { about: 'shipments synced/s with their carriers, by one and by two processes', run: carriers },
  http: { about: 'bare uWebSockets.js, our router on it and on node:http; product list and order detail', run: http },
  decor: {
    about: 'published page with and without If-None-Match, compared with a server that only sends the same bytes',
    run: decor,
  },
  uploads: {
    about: 'uploads of 1 MB images: MB/s and memory, compared with a server that only writes the bytes',
    run: uploads,
  },
  webhooks: {
    about: 'webhooks/s to a receiver with 20 ms latency; purchases with three endpoints against those without',
    run: webhooks,
  },
  scale: {
    about: 'lists, filters and details with a million orders; p50 and p99, and the ratio to a small shop',
    run: scale,
  },
  dashboard: {
    about: 'the dashboard and all reports with a million orders, while orders arrive; p50 and p99',
    run: dashboard,
  },
  backup: {
    about: 'time and size of a backup and its restore, compared with pg_dump and pg_restore',
    run: backup,
  },
  boot: { about: 'time to a served /health on first and later starts; memory idle and after a load', run: boot },
  limiter: {
    about: 'checks/s and memory of the rate limiter, embedded and on Redis, compared with rate-limiter-flexible',
    runAlone: limiter,
  },
  gateway: {
    about: 'requests/s through the LLM gateway and the time it adds to a call, compared with @portkey-ai/gateway',
    run: gateway,
  },
  'gateway-bodies': {
    about: 'delay of the event loop under 60 hostile bodies of 8 MB, parsed at once and read in steps',
    runAlone: gatewayBodies,
  },
};

const help = `Usage: npm run bench -- <name> [--seconds N] [--orders N] [--only PART] [--json] [--profile FOLDER]

${Object.entries(benches)
  .map(([name, { about }]) => `  ${name.padEnd(14)} ${about}`)
  .join('\n')}

  --seconds N       measured seconds of each turn, 1 to 60 (default 4)
  --orders N        orders of the benches scale, dashboard and backup, 10,000 to 5,000,000 (default 1,000,000)
  --only PART       of the bench limiter: ${limiterParts.join(', ')} (redis and stall need redis-server or valkey-server)
  --json            print the result as JSON
  --profile FOLDER  write CPU profiles of the server (orders and purchase: group commit; gateway)

Everything runs on this machine on loopback, all but the limiter on an embedded PostgreSQL in a temporary folder with
fsync on, which is removed at the end. Figures drift with what else the machine does: read the ratios.
`;

/** A bench that takes longer is ended. */
const longestMinutes = 15;

function usage(problem: string): number {
  process.stderr.write(`${problem}\n\n${help}`);
  return 2;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '4' },
      orders: { type: 'string', default: '1000000' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const [name = ''] = positionals;
  const bench = benches[name];
  const seconds = Number(values.seconds);
  if (!bench) return usage(name ? `There is no bench ${name}.` : 'Which bench?');
  if (!(seconds >= 1 && seconds <= 60)) return usage('--seconds: 1 to 60');
  const orders = Number(values.orders);
  if (!(orders >= 10_000 && orders <= 5_000_000)) return usage('--orders: 10000 to 5000000');
  const only = limiterParts.find((part) => part === values.only);
  if (values.only !== undefined && (name !== 'limiter' || !only))
    return usage(`--only: of the bench limiter, ${limiterParts.join(', ')}`);
  const options: Options = { seconds, orders, only, profile: values.profile };
  let sections: Section[];
  let context: Context;
  if ('runAlone' in bench) {
    sections = await bench.runAlone(options);
    context = contextOf(null);
  } else {
    progress(`${name}: starting an embedded PostgreSQL in a temporary folder`);
    const cluster = await startCluster();
    sections = await bench.run(cluster, options);
    context = contextOf(cluster);
    await cluster.stop();
  }
  const output = values.json
    ? JSON.stringify({ bench: name, context, sections }, null, 2)
    : textOf(name, context, sections);
  process.stdout.write(`${output}\n`);
  return sections.some((section) => section.broken) ? 1 : 0;
}

async function end(code: number): Promise<never> {
  await cleanUp();
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130));
setTimeout(() => {
  progress(`stopped after ${longestMinutes} minutes`);
  void end(1);
}, longestMinutes * 60_000).unref();
await main(process.argv.slice(2)).then(end, (error: unknown) => {
  process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
  return end((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') ? 2 : 1);
});
