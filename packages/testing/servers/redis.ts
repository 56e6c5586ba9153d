import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** True when `redis-server` is installed. If not, prints which tests are skipped. */
export function redisIsInstalled(tests: string): boolean {
  try {
    execFileSync('redis-server', ['--version']);
    return true;
  } catch {
    process.stdout.write(`redis-server is not installed: ${tests} are skipped\n`);
    return false;
  }
}

export type RedisServer = {
  readonly port: number;
  readonly url: string;
  /** Sends one command. Returns a text, a number, null or a list of these; an error of Redis is thrown. */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the type of the answer
  command(...words: (string | number)[]): Promise<any>;
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>;
  /** Starts an empty server on the same port. */
  start(): Promise<void>;
  /** Stops the process with SIGSTOP. Its connections stay open. */
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

/** Parses one value of the Redis protocol from `at`. `next` is the position after it. Null while the value is incomplete. */
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
        const element = parse(text, from);
        if (!element) return null;
        values.push(element.value);
        from = element.next;
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

/** Starts a Redis server on a free port of this machine. It stores nothing on disk. */
export async function openRedis(...options: string[]): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'tradepost-redis-'));
  const port = await freePort();
  let child: ChildProcess | null = null;
  const command: RedisServer['command'] = (...words) => commandOn(port, words);
  const kill = async () => {
    const ended = child;
    child = null;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    const exited = once(ended, 'exit');
    ended.kill('SIGKILL');
    await exited;
  };
  // The server must end with the test process, even if the test fails.
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

/** Starts `nodes` servers in cluster mode. Each has an equal share of the slots and no replica. */
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
    if (tries > 300) throw new Error('the nodes did not form a cluster');
    await sleep(50);
  }
  return {
    nodes: opened,
    async close() {
      await Promise.all(opened.map((node) => node.close()));
    },
  };
}
