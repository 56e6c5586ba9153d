import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { upstreamSettings } from '@tradepost/gateway';
import { seedBuyers } from './seed.ts';
import { type Cluster, freePort, type Process, startProcess, temporaryFolder } from './server.ts';

const repository = join(import.meta.dirname, '../..');
/** Limits that are checked in every dimension and never reached. */
const high = 1_000_000_000_000;

export const targetNames = ['direct', 'tradepost', '@portkey-ai/gateway'] as const;
export type TargetName = (typeof targetNames)[number];
export type Target = {
  name: TargetName;
  port: number;
  headers: Readonly<Record<string, string>>;
  /** The processes between client and upstream. */
  pid: number | null;
};
export type Targets = { upstream: Process; all: readonly Target[]; stop(): Promise<void> };

async function startUpstream(): Promise<Process> {
  const port = await freePort();
  const env = { PORT: String(port) };
  return startProcess([join(import.meta.dirname, 'gateway-upstream.ts')], { port, env, path: '/health' });
}

/** Creates a token as an operator does. */
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
  // Options as in `npm start`, with the role gateway only.
  const node = ['--max-old-space-size=384', ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [])];
  const args = ['start', '--seed', 'none', '--only', 'gateway', '--gateway-port', String(port), '--data', folder.path];
  const server = await startProcess([...node, 'bin/tradepost.ts', ...args], {
    port,
    env: { DATABASE_URL: cluster.url },
    path: '/health',
  });
  return { server, token };
}

async function startPeer(): Promise<Process> {
  const port = await freePort();
  // Without its console and the log of the console.
  const env = { NODE_ENV: 'production' };
  const script = join(import.meta.dirname, 'gateway-peer.ts');
  return startProcess([script, `--port=${port}`, '--headless'], { port, env, path: '/' });
}

/** Starts the upstream and the two gateways, each in its own process. */
export async function startTargets(cluster: Cluster, profile: string | undefined): Promise<Targets> {
  const upstream = await startUpstream();
  const ours = await startOurs(cluster, upstream, profile);
  const peer = await startPeer();
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
        port: peer.port,
        headers: {
          authorization: 'Bearer sk-bench',
          'x-portkey-provider': 'openai',
          'x-portkey-custom-host': `${upstream.url}/v1`,
        },
        pid: peer.pid,
      },
    ],
    async stop() {
      await ours.server.stop();
      await peer.stop();
      await upstream.stop();
    },
  };
}
