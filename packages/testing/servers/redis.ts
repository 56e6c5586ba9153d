import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the program is there; says once what is skipped without it. */
export function redisIsInstalled(what: string): boolean {
  try {
    execFileSync('redis-server', ['--version']);
    return true;
  } catch {
    process.stdout.write(`redis-server is not installed: ${what} are skipped\n`);
    return false;
  }
}

export type RedisServer = {
  readonly port: number;
  readonly url: string;
  /** One command, its answer read as text or a number; a list as a list. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever Redis answers
  command(...words: (string | number)[]): Promise<any>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** The same port, with nothing in it. */
  start(): Promise<void>;
  /** Stands still with its connections open. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
};

async function freePort(): Promise<number> {
  const probe: Server = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

/** One value of the protocol from `at` on, and where the next begins; null while some of it is missing. */
function parse(text: string, at: number): { value: unknown; next: number } | null {
  const end = text.indexOf('\r\n', at);
  if (end < 0) return null;
  const line = text.slice(at + 1, end);
  const next = end + 2;
  switch (text[at]) {
    case '+':
      return { value: line, next };
    case '-':
      return { value: new Error(line), next };
    case ':':
      return { value: Number(line), next };
    case '$': {
      const length = Number(line);
      if (length < 0) return { value: null, next };
      if (text.length < next + length + 2) return null;
      return { value: text.slice(next, next + length), next: next + length + 2 };
    }
    default: {
      const values: unknown[] = [];
      let from = next;
      for (let i = 0; i < Number(line); i += 1) {
        const one = parse(text, from);
        if (!one) return null;
        values.push(one.value);
        from = one.next;
      }
      return { value: values, next: from };
    }
  }
}

async function commandOn(port: number, words: readonly (string | number)[]): Promise<unknown> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    const parts = words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`);
    socket.write(`*${words.length}\r\n${parts.join('')}`);
    let text = '';
    for await (const chunk of socket) {
      text += (chunk as Buffer).toString('latin1');
      const answer = parse(text, 0);
      if (answer?.value instanceof Error) throw answer.value;
      if (answer) return answer.value;
    }
    throw new Error('Redis closed the connection');
  } finally {
    socket.destroy();
  }
}

/** A server of its own on a free port of this machine, without a file. */
export async function openRedis(...options: string[]): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'tradepost-redis-'));
  const port = await freePort();
  let child: ChildProcess | null = null;
  const command: RedisServer['command'] = (...words) => commandOn(port, words);
  const kill = async () => {
    const ended = child;
    child = null;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    const gone = once(ended, 'exit');
    ended.kill('SIGKILL');
    await gone;
  };
  // A test that fails half-way must not leave its server behind.
  const atExit = () => void child?.kill('SIGKILL');
  process.once('exit', atExit);
  const start = async () => {
    await kill();
    child = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory].concat(
        options,
      ),
      { stdio: 'ignore' },
    );
    for (let tries = 0; ; tries += 1) {
      const answer = await command('PING').catch((error: Error) => error);
      if (answer === 'PONG') return;
      if (tries > 500) throw new Error(`redis-server does not answer: ${answer}`);
      await sleep(10);
    }
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    command,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async close() {
      process.off('exit', atExit);
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const slots = 16_384;

/** So many nodes in cluster mode, each with its share of the slots and no replica. */
export async function openRedisCluster(nodes: number): Promise<{ nodes: RedisServer[]; close(): Promise<void> }> {
  const opened = await Promise.all(
    Array.from({ length: nodes }, () =>
      openRedis('--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '2000'),
    ),
  );
  const share = slots / nodes;
  await Promise.all(
    opened.map(async (node, i) => {
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
      await node.command('CLUSTER', 'ADDSLOTSRANGE', Math.ceil(i * share), Math.ceil((i + 1) * share) - 1);
    }),
  );
  for (const node of opened.slice(1)) await opened[0]!.command('CLUSTER', 'MEET', '127.0.0.1', node.port);
  const ready = async (node: RedisServer) => {
    const info = String(await node.command('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes}`);
  };
  for (let tries = 0; !(await Promise.all(opened.map(ready))).every(Boolean); tries += 1) {
    if (tries > 300) throw new Error('the cluster does not come together');
    await sleep(50);
  }
  return {
    nodes: opened,
    async close() {
      await Promise.all(opened.map((node) => node.close()));
    },
  };
}
