import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { upstreamSettings } from '@tradepost/gateway';
import { seedBuyers } from './seed.ts';
import { type Cluster, freePort, type Process, startProcess, temporaryFolder } from './server.ts';

const repository = join(import.meta.dirname, '../..');
/** Every dimension is checked and none is reached. */
const high = 1_000_000_000_000;

export const targetNames = ['direct', 'tradepost', '@portkey-ai/gateway'] as const;
export type TargetName = (typeof targetNames)[number];
export type Target = {
  name: TargetName;
  port: number;
  headers: Readonly<Record<string, string>>;
  /** What is between client and upstream. */
  pid: number | null;
};
export type Targets = { upstream: Process; all: readonly Target[]; stop(): Promise<void> };

async function startUpstream(): Promise<Process> {
  const port = await freePort();
  const env = { PORT: String(port) };
  return startProcess([join(import.meta.dirname, 'gateway-upstream.ts')], { port, env, path: '/health' });
}

/** As an operator makes it. */
function createToken(cluster: Cluster, user: string): string {
  const args = ['bin/tradepost.ts', 'gateway', 'token', 'create', '--user', user, '--database-url', cluster.url];
  const { PATH = '', HOME = '' } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: repository,
    env: { PATH, HOME },
    encoding: 'utf8',
  });
  if (!/^tp-\w+\n$/.test(stdout)) throw new Error(`gateway token create: ${stderr}`);
  return stdout.trim();
}

async function startOurs(cluster: Cluster, upstream: Process, profile: string | undefined) {
  const settings = {
    [upstreamSettings.upstreams.key]: [{ name: 'bench', base_url: `${upstream.url}/v1`, api_key: 'sk-bench' }],
    'ratelimit.user_default_rpm': high,
    'ratelimit.user_default_tpm': high,
    'ratelimit.ip_rpm': high,
    'ratelimit.model_default_rpm': high,
    'ratelimit.model_default_tpm': high,
  };
  await cluster.sql`
    insert into runtime.settings (key, value) select key, value from jsonb_each(${cluster.sql.json(settings)})
    on conflict (key) do update set value = excluded.value`;
  await seedBuyers(cluster.sql, cluster.tokens, 1);
  const token = createToken(cluster, 'bench1');
  const folder = await temporaryFolder();
  const port = await freePort();
  // As `npm start` runs it, without the other roles.
  const node = ['--max-old-space-size=384', ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [])];
  const args = ['start', '--seed', 'none', '--only', 'gateway', '--gateway-port', String(port), '--data', folder.path];
  const server = await startProcess([...node, 'bin/tradepost.ts', ...args], {
    port,
    env: { DATABASE_URL: cluster.url },
    path: '/health',
  });
  return { server, token };
}

async function startRival(): Promise<Process> {
  const port = await freePort();
  // Without its console, and without the log it keeps for it.
  const env = { NODE_ENV: 'production' };
  const script = join(import.meta.dirname, 'gateway-rival.ts');
  return startProcess([script, `--port=${port}`, '--headless'], { port, env, path: '/' });
}

/** The upstream, the two gateways in front of it, each a process of its own. */
export async function startTargets(cluster: Cluster, profile: string | undefined): Promise<Targets> {
  const upstream = await startUpstream();
  const ours = await startOurs(cluster, upstream, profile);
  const rival = await startRival();
  return {
    upstream,
    all: [
      { name: 'direct', port: upstream.port, headers: { authorization: 'Bearer sk-bench' }, pid: null },
      {
        name: 'tradepost',
        port: ours.server.port,
        headers: { authorization: `Bearer ${ours.token}` },
        pid: ours.server.pid,
      },
      {
        name: '@portkey-ai/gateway',
        port: rival.port,
        headers: {
          authorization: 'Bearer sk-bench',
          'x-portkey-provider': 'openai',
          'x-portkey-custom-host': `${upstream.url}/v1`,
        },
        pid: rival.pid,
      },
    ],
    async stop() {
      await ours.server.stop();
      await rival.stop();
      await upstream.stop();
    },
  };
}
