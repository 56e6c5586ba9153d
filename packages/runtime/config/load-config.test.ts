import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeConfig } from './describe-config.ts';
import { ConfigError, loadConfig } from './load-config.ts';

let directory: string;
let files = 0;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tradepost-config-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function file(content: unknown): string {
  files += 1;
  const path = join(directory, `config${files}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function problemsOf(options: Parameters<typeof loadConfig>[0]): readonly string[] {
  try {
    loadConfig({ env: {}, ...options });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the source of a value', () => {
  test('the command line overrides the environment, the file and the default, and the sources are reported', () => {
    const { config, sources } = loadConfig({
      flags: { port: 1111 },
      env: { PORT: '2222', HOST: '0.0.0.0' },
      file: file({ port: 3333, host: '10.0.0.1', tokenHours: 5 }),
    });
    expect([config.port, config.host, config.tokenHours, config.batchMax]).toEqual([1111, '0.0.0.0', 5, 100]);
    expect([sources.port, sources.host, sources.tokenHours, sources.batchMax]).toEqual([
      'command line',
      'environment',
      'file',
      'default',
    ]);
  });

  test('without any input: the embedded database, on an address of this machine only', () => {
    const { config, file: used } = loadConfig({ env: {} });
    expect(config).toMatchObject({ port: 8080, host: '127.0.0.1', seed: 'demo', production: false, settings: {} });
    expect([config.databaseUrl, config.redisUrl, used]).toEqual([undefined, undefined, null]);
    expect(config.only).toEqual(['api', 'worker', 'gateway']);
    expect(isAbsolute(config.data)).toBe(true);
  });

  test('an empty variable counts as absent; compose files leave such variables', () => {
    const { config, sources } = loadConfig({ env: { PORT: '', DATABASE_URL: '' }, file: file({ port: 3333 }) });
    expect([config.port, config.databaseUrl]).toEqual([3333, undefined]);
    expect(sources.port).toBe('file');
  });

  test('TRADEPOST_CONFIG names the file, and --config overrides it', () => {
    const env = { TRADEPOST_CONFIG: file({ port: 1 }) };
    expect(loadConfig({ env }).config.port).toBe(1);
    expect(loadConfig({ env, file: file({ port: 2 }) }).config.port).toBe(2);
  });

  test('texts are converted to lists and booleans', () => {
    const env = { TRADEPOST_ONLY: 'worker, api', NODE_ENV: 'production', DATABASE_URL: 'postgresql://h/db' };
    const { config } = loadConfig({ env });
    expect(config).toMatchObject({ only: ['worker', 'api'], production: true, databaseUrl: 'postgresql://h/db' });
    expect(loadConfig({ env: { NODE_ENV: 'development' } }).config.production).toBe(false);
  });

  test('headers for the collector of traces are decoded and never shown, and a share is a number', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20s3cr3t, x-team = b', OTEL_TRACES_SAMPLER_ARG: '0.25' };
    const loaded = loadConfig({ env });
    expect(loaded.config).toMatchObject({ otlpHeaders: { 'x-key': 'a s3cr3t', 'x-team': 'b' }, traceRatio: 0.25 });
    expect(JSON.stringify(describeConfig(loaded))).not.toContain('s3cr3t');
    const wrong = ['x-key', '=a', 'x key=a', 'x-key=%zz', 'x-key=a%0d%0ab', 'x-key=a,,x=b'];
    for (const text of wrong)
      expect(problemsOf({ env: { OTEL_EXPORTER_OTLP_HEADERS: text } }).join(), text).toMatch(
        /^OTEL_EXPORTER_OTLP_HEADERS: must be headers such as name=value,name=value$/,
      );
    expect(problemsOf({ env: { OTEL_TRACES_SAMPLER_ARG: '2' } })).toEqual([
      'OTEL_TRACES_SAMPLER_ARG: must be at most 1',
    ]);
    expect(problemsOf({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:pass@collector:4318' } })).toHaveLength(1);
  });

  test('a variable that is not known is reported where it looks like one that is not set', () => {
    const env = { DATBASE_URL: 'postgres://h/db', TRUSTED_PROXY: '10.0.0.1', DATABASE_PORT: '5432', HOSTS: '' };
    expect(loadConfig({ env }).misspelt).toEqual([
      { name: 'DATBASE_URL', meant: 'DATABASE_URL' },
      { name: 'TRUSTED_PROXY', meant: 'TRUSTED_PROXIES' },
    ]);
    expect(loadConfig({ env: { ...env, DATABASE_URL: 'postgres://h/db' } }).misspelt).toHaveLength(1);
  });

  test('shop settings of the file keep their keys', () => {
    const { config } = loadConfig({ env: {}, file: file({ settings: { 'inventory.provider': 'external_wms' } }) });
    expect(config.settings).toEqual({ 'inventory.provider': 'external_wms' });
  });
});

describe('an invalid configuration stops the start', () => {
  test('with all problems at once, each with the name that the operator wrote', () => {
    const path = file({ prot: 1, hots: 'x', batchMax: 0, settings: ['no'] });
    const problems = problemsOf({
      flags: { seed: 'everything' },
      env: { PORT: 'eighty', REDIS_URL: 'http://localhost', TRADEPOST_ONLY: 'api,cook' },
      file: path,
    });
    expect(problems).toHaveLength(8);
    const text = problems.join('\n');
    for (const name of [
      `${path}: "prot" is not a setting (did you mean port?)`,
      `${path}: "hots" is not a setting`,
      '--seed: ',
      'PORT: ',
      'REDIS_URL: must be a URL beginning with redis:// or rediss://',
      'TRADEPOST_ONLY: ',
      `${path}: batchMax: `,
      `${path}: settings must be an object`,
    ])
      expect(text).toContain(name);
    expect(() => loadConfig({ env: { PORT: '70000', BATCH_MAX: '-1' } })).toThrow(/- PORT: .*\n.*- BATCH_MAX: /);
  });

  test.each([
    'postgres:///shop?host=/run/postgresql',
    'postgres://shop:p@%2Frun%2Fpostgresql/shop',
    'postgres://shop:p%40ss@db:5433/sh%40op?sslmode=verify-full&application_name=shop@web1&options=-c%20work_mem=8MB',
    'postgres://shop:p@ss@db/shop#note',
  ])('the database URL %s is taken', (databaseUrl) => {
    expect(loadConfig({ env: { DATABASE_URL: databaseUrl } }).config.databaseUrl).toBe(databaseUrl);
  });

  test.each(['p/ss', 'p#ss', 'p?ss', 'p%zz', 'pa:ss@w/ord#1%', 's@w?x'])(
    'the password %s that is not percent-encoded is named as the cause',
    (password) => {
      const hint =
        'is not a valid URL: in user names and passwords, characters such as @ : / ? # % are percent-encoded';
      const databaseUrl = `postgres://shop:${password}@db/shop`;
      const problems = problemsOf({
        env: {
          DATABASE_URL: databaseUrl,
          REDIS_URL: `redis://:${password}@cache`,
          LIMITER_REDIS_URL: `redis://a, redis://:${password}@b`,
        },
        file: file({}),
      });
      expect(problems).toEqual(
        ['DATABASE_URL', 'REDIS_URL', 'LIMITER_REDIS_URL'].map((name) => expect.stringContaining(`${name}: ${hint}`)),
      );
      expect(problems.join()).not.toContain(password);
      const encoded = `postgres://shop:${encodeURIComponent(password)}@db/shop`;
      expect(loadConfig({ env: { DATABASE_URL: encoded } }).config.databaseUrl).toBe(encoded);
    },
  );

  test.each(['65536', '-1', '80.5', '8080x', ' ', 'NaN', 'Infinity'])('port %j', (port) => {
    expect(problemsOf({ env: { PORT: port } })).toEqual([expect.stringMatching(/^PORT: /)]);
  });

  test.each([null, true, '', [], {}])('port %j in the file is not converted to 0 or 1', (port) => {
    expect(problemsOf({ file: file({ port }) })).toEqual([expect.stringContaining(': port: ')]);
  });

  test('keys of the object prototype are unknown settings', () => {
    expect(problemsOf({ file: file('{"__proto__": 1, "constructor": 2, "toString": 3}') })).toHaveLength(3);
  });

  test.each(['{"port": 80', '[]', 'null', '"text"', ''])('a file with the content %j', (text) => {
    const path = file(text);
    expect(problemsOf({ file: path })).toEqual([expect.stringContaining(path)]);
  });

  test('a file that does not exist', () => {
    const path = join(directory, 'absent.json');
    expect(problemsOf({ file: path })).toEqual([expect.stringContaining(path)]);
  });

  test('no problem contains a secret, also when the file ends in the middle of one', () => {
    const secret = 'hunter2';
    const said = [
      ...problemsOf({ env: { DATABASE_URL: `mysql://u:${secret}@h/db`, REDIS_URL: secret } }),
      ...problemsOf({ flags: { databaseUrl: secret }, file: file({ redisUrl: `http://:${secret}@h` }) }),
      ...problemsOf({ file: file(`{"databaseUrl": ${secret}}`) }),
      ...problemsOf({ file: file(`{"redisUrl": "redis://:${secret}@h" "port": 1}`) }),
    ];
    expect(said).toHaveLength(6);
    expect(said.join('\n')).not.toContain(secret.slice(0, 4));
  });
});

test('a loaded configuration is frozen', () => {
  const { config } = loadConfig({ env: {}, file: file({ settings: { a: 1 } }) });
  const open = config as unknown as Record<string, unknown> & { settings: Record<string, unknown>; only: string[] };
  expect(() => {
    open.port = 1;
  }).toThrow(TypeError);
  expect(() => {
    open.settings.a = 2;
  }).toThrow(TypeError);
  expect(() => open.only.push('x')).toThrow(TypeError);
  expect(loadConfig({ env: {} }).config.only).toEqual(['api', 'worker', 'gateway']);
});

test('the printed configuration has addresses and sources, and no password', () => {
  const loaded = loadConfig({
    env: { DATABASE_URL: 'postgres://shop:hunter2@db.example:5432/shop?sslmode=require', PORT: '9000' },
    flags: { redisUrl: 'rediss://:hunter2@cache.example:6380/1' },
  });
  const rows = describeConfig(loaded);
  const row = (key: string) => rows.find((each) => each.key === key)!;
  expect(JSON.stringify(rows)).not.toContain('hunter2');
  expect(row('databaseUrl').value).toBe('postgres://shop:***@db.example:5432/shop?sslmode=require');
  expect(row('redisUrl')).toMatchObject({ source: 'command line', env: 'REDIS_URL' });
  expect(row('redisUrl').value).toContain('cache.example:6380/1');
  expect(row('port')).toMatchObject({ value: '9000', source: 'environment' });
  const inQuery = loadConfig({ env: { DATABASE_URL: 'postgres://h/db?password=hunter2&sslpassword=hunter2' } });
  expect(JSON.stringify(describeConfig(inQuery))).not.toContain('hunter2');
});

test('the admin listener can have a fixed port, any port or none, and production keeps metrics and documents private', () => {
  const of = (env: Record<string, string>) => loadConfig({ env }).config;
  expect(['9000', '0', 'off'].map((ADMIN_PORT) => of({ ADMIN_PORT }).adminPort)).toEqual([9000, 0, 'off']);
  expect(of({}).adminPort).toBeUndefined();
  for (const ADMIN_PORT of ['no', '65536', '-1', '1.5'])
    expect(problemsOf({ env: { ADMIN_PORT } })).toEqual(['ADMIN_PORT: must be a whole number from 0 to 65535, or off']);
  expect(of({})).toMatchObject({ publicMetrics: true, publicDocs: true });
  expect(of({ NODE_ENV: 'production' })).toMatchObject({ publicMetrics: false, publicDocs: false });
  expect(of({ NODE_ENV: 'production', PUBLIC_DOCS: 'on' })).toMatchObject({ publicMetrics: false, publicDocs: true });
  expect(problemsOf({ env: { PUBLIC_METRICS: 'maybe' } })).toEqual(['PUBLIC_METRICS: must be on or off']);
});
