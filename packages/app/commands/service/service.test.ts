import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { freePorts } from '@tradepost/testing/processes/free-ports';
import { isInstalled } from '@tradepost/testing/processes/is-installed';
import { openRedis, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../../..');
let folder: string;
let files: Map<string, string>;

const printUnits = (...args: string[]) => runCommandInProcess(['service', 'print', ...args]);
const valuesOf = (text: string, key: string) =>
  text.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-units-'));
  await writeFile(join(folder, 'shop.env'), 'DATABASE_URL=postgres://shop:hunter2@db/shop\nSHUTDOWN_SECONDS="40"\n');
  const printed = await printUnits(
    ...[
      '--user',
      userInfo().username,
      '--environment-file',
      join(folder, 'shop.env'),
      '--output',
      join(folder, 'units'),
    ],
  );
  expect(printed).toMatchObject({ code: 0, stdout: '' });
  const names = await readdir(join(folder, 'units'));
  files = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, 'units', name), 'utf8')] as const)),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('there are units for API, worker and gateway, and timers for the programs of cron', () => {
  const timers = ['audit', 'backup', 'backup-verify', 'carrier-sync', 'jobs', 'wms-retry'];
  expect([...files.keys()].sort()).toEqual(
    [
      ...['tradepost.service', 'tradepost-api@.service', 'tradepost-worker@.service', 'tradepost-gateway@.service'],
      'tradepost.sh',
      ...timers.flatMap((name) => [`tradepost-${name}.service`, `tradepost-${name}.timer`]),
    ].sort(),
  );
});

test('no unit has a secret, and a stop takes as long as the environment file allows', () => {
  for (const text of files.values()) expect(text).not.toContain('hunter2');
  expect(valuesOf(files.get('tradepost-api@.service')!, 'TimeoutStopSec')).toEqual(['55']);
  expect(valuesOf(files.get('tradepost-worker@.service')!, 'TimeoutStopSec')).toEqual(['50']);
  expect(valuesOf(files.get('tradepost-api@.service')!, 'Environment')).toEqual([
    'NODE_ENV=production TRADEPOST_DATA=/var/lib/tradepost DRAIN_SECONDS=5',
  ]);
});

test('a service is started again for as long as its database or its Redis is away', () => {
  for (const name of ['tradepost.service', 'tradepost-api@.service', 'tradepost-worker@.service']) {
    expect(valuesOf(files.get(name)!, 'StartLimitIntervalSec'), name).toEqual(['0']);
    expect(valuesOf(files.get(name)!, 'Restart'), name).toEqual(['on-failure']);
  }
});

test('every command line of a unit is one that the program knows', async () => {
  for (const [name, text] of files)
    for (const line of valuesOf(text, 'ExecStart')) {
      const [node, heap, script, ...words] = line.split(' ');
      expect([node, heap], name).toEqual([join(root, 'node_modules/.bin/node'), '--max-old-space-size=384']);
      if (!script!.endsWith('bin/tradepost.ts')) {
        expect(await readFile(script!, 'utf8'), name).toContain('--once');
        continue;
      }
      const command = words.filter((word) => !/^[-%/\d]|^(api|worker|gateway)$/.test(word));
      const help = await runCommandInProcess([...command, '--help']);
      expect(help.code, name).toBe(0);
      for (const flag of words.filter((word) => word.startsWith('--'))) expect(help.stdout, name).toContain(flag);
    }
});

describe('the wrapper of the command', () => {
  /** Runs it in a folder of its own, where `setpriv` and Node.js print what they are given, as a user that `id` names. */
  const runWrapper = async ({ uid = 0, name = 'root', environmentFile = join(folder, 'shop.env'), sudo = '' } = {}) => {
    const place = await mkdtemp(join(folder, 'wrapper-'));
    const show = `#!/bin/sh\necho "$0|$NODE_ENV|$TRADEPOST_DATA|$SHUTDOWN_SECONDS|$(pwd)|$(umask)|$SUDO_USER|$TRADEPOST_COMMAND"\nprintf '<%s>' "$@"\n`;
    const id = `#!/bin/sh\ncase "$1$2" in -u) echo ${uid};; -gtradepost) echo 990;; *) echo ${name};; esac\n`;
    for (const [file, text] of Object.entries({ setpriv: show, node: show, id }))
      await writeFile(join(place, file), text, { mode: 0o755 });
    const output = join(place, 'out');
    await printUnits(
      ...['--user', 'tradepost', '--directory', place, '--node', join(place, 'node'), '--data', '/srv/shop'],
      ...['--environment-file', environmentFile, '--only', 'command', '--output', output],
    );
    expect(await readdir(output)).toEqual(['tradepost.sh']);
    const PATH = `${place}:${process.env.PATH}`;
    const ran = spawnSync(join(output, 'tradepost.sh'), ['pay', 'a  "b" $c'], {
      encoding: 'utf8',
      env: { PATH, SUDO_USER: sudo },
    });
    return { place, output: ran.stdout + ran.stderr, status: ran.status };
  };
  const commandOf = (place: string) => `<--max-old-space-size=384><${place}/bin/tradepost.ts><pay><a  "b" $c>`;

  test('is a script for POSIX shells with the program and variables of the units', () => {
    const text = files.get('tradepost.sh')!;
    expect(spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    const [node, heap, script] = valuesOf(files.get('tradepost.service')!, 'ExecStart')[0]!.split(' ');
    expect(text).toContain(`'${node}' ${heap} '${script}' "$@"`);
    expect(text).toContain("export NODE_ENV=production TRADEPOST_DATA='/var/lib/tradepost'\n");
  });

  test('runs as the user of the services, with the variables of the file', async () => {
    const { place, output } = await runWrapper();
    expect(output).toBe(
      `${place}/setpriv|production|/srv/shop|40|${place}|0077|root|tradepost-shop\n<--reuid=tradepost><--regid=990><--init-groups><--><${place}/node>${commandOf(place)}`,
    );
  });

  test('runs at once for the user of the services', async () => {
    const { place, output } = await runWrapper({ uid: 999, name: 'tradepost' });
    expect(output).toBe(
      `${place}/node|production|/srv/shop|40|${place}|0077|tradepost|tradepost-shop\n${commandOf(place)}`,
    );
  });

  test('passes on who called sudo, for the change log', async () => {
    expect((await runWrapper({ sudo: 'maria' })).output).toContain('|0077|maria|');
  });

  test('refuses other users, and an environment file that it cannot read', async () => {
    const runAsRoot = expect.stringMatching(/^tradepost-shop: .*run it as root: sudo tradepost-shop \.\.\.\n$/);
    expect(await runWrapper({ uid: 1000, name: 'ann' })).toMatchObject({ status: 2, output: runAsRoot });
    // Root can read every file, so the one that cannot be read is one that is not there.
    const environmentFile = join(folder, 'no.env');
    const service = await runWrapper({ uid: 999, name: 'tradepost', environmentFile });
    expect(service).toMatchObject({ status: 2, output: runAsRoot });
    const root = await runWrapper({ environmentFile });
    expect(root).toMatchObject({ status: 2, output: expect.stringContaining('no.env does not exist') });
  });

  const runWithFile = async (text: string) => {
    const environmentFile = join(await mkdtemp(join(folder, 'file-')), 'shop.env');
    await writeFile(environmentFile, text);
    return runWrapper({ environmentFile });
  };

  test.each([
    ...['postgres://shop:secret@db/shop?a=1&b=2', 'a;b', 'a b', ' a', 'a$b', 'a`b', '(a)', 'a<b', 'a>b', 'a|b', '~/a'],
    ...['a"b"', "a'b'", '"a$b"', '"a`b`"', `'a'b`, '"a" b', 'a\r', "'a'\r"],
  ])('refuses a value that systemd and a shell read differently: %j', async (value) => {
    const { status, output } = await runWithFile(`# The shop\n\nPORT=8080\nDATABASE_URL=${value}\n`);
    expect(status).toBe(2);
    expect(output).toMatch(/shop\.env, line 4: DATABASE_URL is read differently .* DATABASE_URL='\.\.\.'\n$/);
    expect(output).not.toContain('secret');
  });

  test.each(['export PORT=1', 'PORT = 1', 'PORT', '; a comment', 'my-key=1', "KEY='a\nb", 'KEY="a\\"'])(
    'refuses what is not an assignment for both: %j',
    async (text) => {
      expect(await runWithFile(`PORT=8080\n${text}`)).toMatchObject({
        status: 2,
        output: expect.stringMatching(/shop\.env, line 2: (not a line NAME=VALUE|the quotes of KEY do not end)/),
      });
    },
  );

  test('accepts every form that both read in the same way', async () => {
    const lines = [
      "A='a $b & c'",
      '  B="a b; \\$c \\"d\\" \'e\'"',
      'C=a\\ b#c  ',
      'D=',
      "E='first\nsecond'",
      '\t# F=$f',
      'G=x=[1]*?',
    ];
    const { status, output } = await runWithFile(`${lines.join('\n')}\nSHUTDOWN_SECONDS=50`);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining('|/srv/shop|50|') });
  });
});

test('the command of a copy has another name, and no folder of systemd gets it', async () => {
  const copy = ['--data', '/var/lib/tradepost-copy', '--environment-file', '/etc/tradepost/copy.env'];
  const place = await mkdtemp(join(folder, 'copy-'));
  const output = join(place, 'copy');
  const { stderr } = await printUnits(...copy, '--output', output);
  expect(stderr).toContain(`install -m 755 ${output}/tradepost.sh /usr/local/bin/tradepost-copy\n`);
  expect(stderr).not.toContain('systemctl');
  const named = await printUnits('--environment-file', '/etc/tradepost/copy.env', '--only', 'command');
  expect(named.stdout).toContain('# Install as /usr/local/bin/tradepost-copy,');

  const system = join(place, 'systemd/system');
  const written = await printUnits('--output', system);
  expect(written.stderr).toMatch(/then: systemctl daemon-reload\n.* --command \/usr\/local\/bin\/tradepost\n/);
  expect(await readdir(system)).not.toContain('tradepost.sh');
});

test('the command is written to its file, in the place of a link that was there', async () => {
  const place = await mkdtemp(join(folder, 'command-'));
  await writeFile(join(place, 'program.js'), 'program');
  await symlink('program.js', join(place, 'shop'));
  const written = await printUnits('--command', join(place, 'shop'));
  expect(written).toMatchObject({ code: 0, stdout: '', stderr: `wrote ${place}/shop\n` });
  expect(await readFile(join(place, 'program.js'), 'utf8')).toBe('program');
  expect(await readFile(join(place, 'shop'), 'utf8')).toContain('sudo shop ...');
  expect((await stat(join(place, 'shop'))).mode & 0o777).toBe(0o755);
  expect((await readdir(place)).sort()).toEqual(['program.js', 'shop']);
});

test('paths of a home folder stay readable, other folders are named, and only the chosen units are printed', async () => {
  const { stdout } = await printUnits(
    ...['--only', 'api', '--directory', '/home/ann/shop', '--node', '/usr/bin/node', '--data', '/srv/shop'],
  );
  expect(stdout.match(/^# \/etc\/systemd\/system\/.*$/gm)).toEqual(['# /etc/systemd/system/tradepost-api@.service']);
  expect(valuesOf(stdout, 'ProtectHome')).toEqual(['read-only']);
  expect(valuesOf(stdout, 'ReadWritePaths')).toEqual(['/srv/shop', '-/var/backups/tradepost']);
  expect(valuesOf(stdout, 'ExecStart')).toEqual([
    '/usr/bin/node --max-old-space-size=384 /home/ann/shop/bin/tradepost.ts start --plain --only api --port %i --admin-port 1%i',
  ]);
});

test('backups in a bucket are made and verified there, and no folder is named for them', async () => {
  const { stdout } = await printUnits('--only', 'backup,backup-verify', '--backups', 's3://backups/shop');
  const commands = valuesOf(stdout, 'ExecStart').map((line) => line.replace(/^.* backup /, 'backup '));
  expect(commands).toEqual(['backup create s3://backups/shop', 'backup verify s3://backups/shop']);
  expect(valuesOf(stdout, 'ReadWritePaths')).toEqual([]);
});

test.each([
  [['--backups', 's3://my bucket'], '--backups: '],
  [['--only', 'api,cook'], '--only: cook is not one of shop, api'],
  [['--user', 'ann ; rm'], '--user: '],
  [['--data', '/srv/my shop'], '--data: '],
  [['--directory', '/srv/100%'], '--directory: '],
])('what cannot be written into a unit is wrong usage: %j', async (args, message) => {
  const refused = await printUnits(...args);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(message);
});

const hasSystemd = isInstalled('systemd-analyze', ['--version'], 'the checks of units by systemd');
describe.runIf(hasSystemd)('systemd', () => {
  const analyze = (...args: string[]) => {
    const done = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return { status: done.status, output: done.stdout + done.stderr };
  };

  test('accepts all units', async () => {
    const instances = join(folder, 'instances');
    await rm(instances, { recursive: true, force: true });
    await printUnits('--user', userInfo().username, '--output', instances);
    // A template is checked as one of its instances.
    for (const [name, port] of [
      ['api', 8080],
      ['worker', 18082],
      ['gateway', 8081],
    ] as const)
      await symlink(`tradepost-${name}@.service`, join(instances, `tradepost-${name}@${port}.service`));
    const names = (await readdir(instances)).filter((name) => !/@\.|\.sh$/.test(name));
    expect(names.length).toBeGreaterThan(10);
    const { status, output } = analyze('verify', '--man=no', ...names.map((name) => join(instances, name)));
    expect({ status, ours: output.split('\n').filter((line) => line.includes('tradepost')) }).toEqual({
      status: 0,
      ours: [],
    });
  });

  test('rates the exposure of the services as low', () => {
    const name = join(folder, 'units/tradepost-api@.service');
    // An exposure above 2.0 of 10 fails.
    const { status, output } = analyze('security', '--offline=true', '--threshold=20', '--no-pager', name);
    expect(status, output).toBe(0);
  });
});

/** Runs `ready.ts` and answers its exit code. `mainPid`: as systemd runs it after the start of this process. */
async function isReady(port: number, args: readonly string[] = [], mainPid?: number): Promise<number | null> {
  const env = { ...process.env, ...(mainPid === undefined ? {} : { MAINPID: String(mainPid) }) };
  const script = join(root, 'daemons/ready.ts');
  const child = spawn(process.execPath, [script, '--admin-port', String(port), ...args], { env });
  const [code] = await once(child, 'close');
  return code as number | null;
}

test('the readiness check waits for a process, and fails for one that is stopping', async () => {
  const shop = await openShop({ adminPort: 0, drainSeconds: 3 });
  const { port } = shop.server.admin!;
  expect(await isReady(port, ['--wait', '10'])).toBe(0);
  expect(await isReady(port, ['--wait', '10'], process.pid)).toBe(0);
  const stopping = shop.close();
  expect(await isReady(port)).toBe(1);
  expect(await isReady(port, ['--ignore', 'store'])).toBe(1);
  await stopping;
});

describe('the start of a unit', () => {
  let shop: Shop;
  let living: ChildProcess;
  beforeAll(async () => {
    shop = await openShop({ adminPort: 0 });
    living = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  });
  afterAll(async () => {
    living?.kill('SIGKILL');
    await shop?.close();
  });

  test('fails as soon as its process has ended, also when another process answers on its port', async () => {
    const gone = spawn(process.execPath, ['--version']);
    await once(gone, 'close');
    // A wait that does not end by itself within this test.
    for (const port of [shop.server.admin!.port, await freePorts()])
      expect(await isReady(port, ['--wait', '3600'], gone.pid)).toBe(1);
  });

  test('is not complete by the answer of another process', async () => {
    expect(await isReady(shop.server.admin!.port, ['--wait', '1'], living.pid)).toBe(1);
  });
});

test('another program on the port of the admin listener is not ready', async () => {
  for (const [status, text] of [
    [200, 'ok'],
    [200, 'null'],
    [503, '{"parts":1}'],
    [503, '{"parts":[null]}'],
    [404, '{}'],
  ] as const) {
    const server = createServer((_request, response) => response.writeHead(status).end(text));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    expect(await isReady((server.address() as AddressInfo).port)).toBe(1);
    server.close();
  }
});

test.skipIf(!redisIsInstalled('readiness without the store'))(
  'the health check of a container ignores an outage of Redis: the process serves requests',
  async () => {
    const redis = await openRedis();
    const shop = await openShop({ adminPort: 0, redisUrl: redis.url });
    const { port } = shop.server.admin!;
    try {
      await redis.kill();
      const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
      const [, options] = /^HEALTHCHECK .*"daemons\/ready.ts", (.*)\]$/m.exec(dockerfile)!;
      expect(await isReady(port, JSON.parse(`[${options}]`))).toBe(0);
      expect(await isReady(port)).toBe(1);
      expect(await isReady(port, ['--ignore', 'database'])).toBe(1);
    } finally {
      await shop.close();
      await redis.close();
    }
  },
);
