import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configFields } from '../../packages/runtime/config/fields.ts';
import { root } from '../architecture/tree.ts';
import { execForm, pairsOf, parseDockerfile } from './dockerfile.ts';

type Service = {
  build?: string;
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  env_file?: string;
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: unknown;
  volumes?: string[];
  secrets?: string[];
};
type Compose = {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  volumes: Record<string, unknown>;
  networks: { default: { ipam: { config: { subnet: string }[] } } };
};

const text = await readFile(join(root, 'compose.yaml'), 'utf8');
const compose = parse(text, { merge: true }) as Compose;
const instructions = parseDockerfile(await readFile(join(root, 'Dockerfile'), 'utf8'));
const argsOf = (name: string) => instructions.filter((one) => one.name === name).map(({ args }) => args);
const shops = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);
const valueAfter = (words: readonly string[], flag: string) => words[words.indexOf(flag) + 1];

test('there are PostgreSQL, Redis, two API processes, two workers, a gateway and a proxy', () => {
  expect(Object.keys(compose.services)).toEqual([
    ...['postgres', 'redis', 'migrate', 'api-1', 'api-2', 'worker-1', 'worker-2', 'gateway', 'proxy'],
  ]);
  for (const [name, { depends_on = {} }] of Object.entries(compose.services))
    for (const other of Object.keys(depends_on)) expect(Object.keys(compose.services), name).toContain(other);
});

test('every command and option is one that the program knows', async () => {
  for (const [name, { command = [] }] of shops) {
    const help = await runCommandInProcess([command[0]!, '--help']);
    expect(help.code, name).toBe(0);
    for (const flag of command.filter((word) => word.startsWith('--'))) expect(help.stdout, name).toContain(flag);
  }
  const entrypoint = execForm(argsOf('ENTRYPOINT')[0]!);
  for (const file of [entrypoint.at(-1)!, 'daemons/ready.ts', 'docs/proxy/Caddyfile'])
    expect(existsSync(join(root, file))).toBe(true);
});

test('every variable is one of the configuration, and the values are valid', () => {
  const known = new Set<string>(Object.values(configFields).map(({ env }) => env));
  for (const [name, { environment = {}, env_file }] of shops) {
    const env = { ...pairsOf(argsOf('ENV')[0]!), ...environment };
    expect(
      Object.keys(env).filter((key) => !known.has(key)),
      name,
    ).toEqual([]);
    const shown = Object.fromEntries(
      Object.entries(env).map(([key, value]) => [key, value.replace(/\$\{\w+:-([^}]*)\}/, '$1')]),
    );
    const { config } = loadConfig({ env: { ...shown, DATABASE_URL: 'postgres://shop@postgres/shop' } });
    expect(config).toMatchObject({ production: true, host: '0.0.0.0', data: '/var/lib/tradepost' });
    expect(env_file).toBe('secrets/shop.env');
  }
});

test('the proxy is trusted, finds both API processes, and their ports agree', async () => {
  const { proxy } = compose.services;
  const ports = Object.fromEntries(
    shops.map(([name, { command = [] }]) => [
      name,
      command.includes('gateway') ? valueAfter(command, '--gateway-port') : valueAfter(command, '--port'),
    ]),
  );
  expect(proxy!.environment!.SHOP_API).toBe(`api-1:${ports['api-1']} api-2:${ports['api-2']}`);
  expect(proxy!.environment!.SHOP_GATEWAY).toBe(`gateway:${ports.gateway}`);
  expect(argsOf('EXPOSE')).toEqual([`${ports['api-1']} ${ports.gateway}`]);
  const caddyfile = await readFile(join(root, 'docs/proxy/Caddyfile'), 'utf8');
  for (const name of Object.keys(proxy!.environment!)) expect(caddyfile).toContain(`{$${name}:`);
  const [network] = compose.networks.default.ipam.config;
  for (const [, { environment }] of shops) expect(environment!.TRUSTED_PROXIES).toBe(network!.subnet);
  // The health check asks the admin listener on its default port.
  for (const [name, { command = [] }] of shops)
    if (name !== 'migrate') expect(valueAfter(command, '--admin-port'), name).toBe('8082');
});

test('a container has the time to drain and to finish, and files are shared', () => {
  for (const [name, { stop_grace_period, environment, volumes }] of shops) {
    const { DRAIN_SECONDS, SHUTDOWN_SECONDS } = environment!;
    expect(Number.parseInt(stop_grace_period!, 10), name).toBeGreaterThanOrEqual(
      Number(DRAIN_SECONDS) + Number(SHUTDOWN_SECONDS) + 5,
    );
    expect(volumes, name).toEqual(['shop:/var/lib/tradepost']);
  }
  expect(argsOf('VOLUME')).toEqual(['/var/lib/tradepost']);
});

test('no secret is in the file: passwords come from files that are not in the repository', async () => {
  expect(text).not.toMatch(/:\/\/[^\s/]*:[^\s/]*@|PASSWORD: /);
  expect(compose.services.postgres).toMatchObject({
    environment: { POSTGRES_PASSWORD_FILE: '/run/secrets/postgres_password' },
    secrets: ['postgres_password'],
  });
  for (const file of ['.gitignore', '.dockerignore'])
    expect((await readFile(join(root, file), 'utf8')).split('\n'), file).toContain(
      file === '.gitignore' ? 'secrets/' : 'secrets',
    );
});
