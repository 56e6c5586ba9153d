import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@tradepost/testing/processes/free-ports';
import { isInstalled, systemPath } from '@tradepost/testing/processes/is-installed';
import { caddyfile, nginxConf, type ProxySite } from './proxy-files.ts';

export type RunningProxy = {
  /** The address of the plain or the TLS listener, without a host name. */
  port: number;
  /** The certificate of the TLS listener. */
  certificate: string;
  output(): string;
  close(): Promise<void>;
};
export type ProxyKind = 'nginx' | 'caddy';

const env = { ...process.env, PATH: systemPath };
/** `tests` are named when the proxy is not installed. */
export const hasProxy = (kind: ProxyKind, tests?: string): boolean =>
  isInstalled(kind, [kind === 'nginx' ? '-v' : 'version'], tests);

/** A certificate for the names of the examples. */
function selfSigned(folder: string): { certificate: string; key: string } {
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'key.pem');
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=shop.example', '-addext', 'subjectAltName=DNS:shop.example,DNS:llm.example'],
      ...['-keyout', key, '-out', certificate],
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return { certificate, key };
}

const nginxMain = (folder: string) => `
user root;
worker_processes 2;
daemon off;
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  include ${folder}/shop.conf;
}
`;

async function writeConfiguration(kind: ProxyKind, folder: string, site: ProxySite) {
  if (kind === 'caddy') {
    await writeFile(join(folder, 'Caddyfile'), await caddyfile(site));
    const at = ['--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    return { check: ['validate', ...at], run: ['run', ...at] };
  }
  await writeFile(join(folder, 'shop.conf'), await nginxConf(site));
  await writeFile(join(folder, 'nginx.conf'), nginxMain(folder));
  const at = ['-p', folder, '-c', join(folder, 'nginx.conf')];
  return { check: ['-t', ...at], run: at };
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  for (const end = performance.now() + 15_000; ; await sleep(20)) {
    const socket = connect(port, '127.0.0.1');
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (open) return;
    if (child.exitCode !== null || performance.now() > end) throw new Error(`nothing listens on ${port}`);
  }
}

/**
 * Starts the real proxy with its example of docs/proxy. The configuration is checked by the proxy first. With `tls` it serves with a
 * self-signed certificate.
 */
export async function startProxy(
  kind: ProxyKind,
  { api, gateway, tls = false }: { api: readonly [number, number]; gateway?: number; tls?: boolean },
): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-proxy-'));
  const first = await freePorts();
  const pair = tls ? selfSigned(folder) : undefined;
  const { check, run } = await writeConfiguration(kind, folder, { port: first, api, gateway, tls: pair });
  const home = { ...env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const checked = spawnSync(kind, check, { env: home, encoding: 'utf8' });
  if (checked.status !== 0) throw new Error(`${kind} refuses the example: ${checked.stderr}`);
  const child = spawn(kind, run, { env: home, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = checked.stderr;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = once(child, 'close');
  // The proxy must end with the test process, even if the test fails.
  const kill = () => child.kill('SIGTERM');
  process.once('exit', kill);
  const close = async () => {
    process.off('exit', kill);
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const port = tls ? first + 1 : first;
  await answers(port, child).catch(async (error: Error) => {
    await close();
    throw new Error(`${kind}: ${error.message}: ${output}`);
  });
  return { port, certificate: pair?.certificate ?? '', output: () => output, close };
}
