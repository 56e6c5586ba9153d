import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLog } from '../observability/log.ts';
import { openSecrets, type Secrets } from './secrets.ts';

let database: TestDatabase;
let folder: string;
let lines: string[];

beforeEach(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-secrets-'));
  lines = [];
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const fileOf = (machine = 'a') => join(folder, machine, 'secrets.key');
/** Opens the secrets of one process. A changed file is read at once. */
function open(machine = 'a'): Secrets {
  const log = openLog({ level: 'debug', stream: { write: (line: string) => lines.push(line) } });
  let clock = 0;
  return openSecrets({ sql: database.sql, file: fileOf(machine), log, now: () => (clock += 10_000) });
}
const keyLine = () => randomBytes(32).toString('base64');
const refusal = (work: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'accepted',
      (error: { refusalName?: string }) => error.refusalName,
    );

test('a sealed text opens under its name in every process, and shows neither the text nor that two are equal', async () => {
  const [one, two] = [open(), open()];
  const sealed = await one.seal('pay.secret', 'hunter2 密');
  expect(two.open('pay.secret', sealed)).toBe('hunter2 密');
  expect(sealed).toMatch(/^sealed:1:[0-9a-f]{8}:/);
  expect(sealed).not.toContain('hunter2');
  expect(await one.seal('pay.secret', 'hunter2 密')).not.toBe(sealed);
  expect(one.open('empty', await one.seal('empty', ''))).toBe('');
});

test('a sealed text that was changed, cut, or moved to another name does not open', async () => {
  const secrets = open();
  const sealed = await secrets.seal('webhooks:1', 'hunter2');
  const flipped = sealed.slice(0, -2) + (sealed.at(-2) === 'A' ? 'B' : 'A') + sealed.at(-1);
  for (const [name, text] of [
    ['webhooks:2', sealed],
    ['webhooks:1', flipped],
    ['webhooks:1', sealed.slice(0, 40)],
    ['webhooks:1', 'sealed:1:00000000:AAAA'],
    ['webhooks:1', 'hunter2'],
  ] as const)
    expect(await refusal(() => secrets.open(name, text)), text).toBe('secret_unreadable');
  expect(lines.join('')).not.toContain('hunter2');
});

describe('the key file', () => {
  test('is created with the first secret, for this user only, and named in the log', async () => {
    const secrets = open();
    expect(await secrets.status()).toMatchObject({ problem: null, inFile: [], recorded: [] });
    await expect(stat(fileOf())).rejects.toThrow('ENOENT');
    await secrets.seal('a', 'x');
    expect((await stat(fileOf())).mode & 0o777).toBe(0o600);
    const created = lines.filter((line) => line.includes('created the key file'));
    expect(created).toEqual([expect.stringContaining('keep a copy of it, apart from the backups')]);
    const { inFile, recorded } = await secrets.status();
    expect(recorded).toEqual(inFile);
    expect(lines.join('')).not.toContain((await readFile(fileOf(), 'utf8')).trim().split('\n').at(-1));
  });

  test.runIf(process.getuid?.() === 0)('belongs to the owner of its folder when root creates it', async () => {
    await mkdir(join(folder, 'a'));
    await chown(join(folder, 'a'), 1234, 2345);
    await open().seal('a', 'x');
    const { uid, gid, mode } = await stat(fileOf());
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 1234, gid: 2345, mode: 0o600 });
  });

  test('is one file when many processes store their first secret at once, and no temporary file is left', async () => {
    const processes = Array.from({ length: 8 }, () => open());
    const sealed = await Promise.all(processes.map((one, n) => one.seal('a', `text ${n}`)));
    for (const one of processes) expect(sealed.map((text) => one.open('a', text))).toHaveLength(8);
    expect((await processes[0]!.status()).recorded).toHaveLength(1);
    expect(await readdir(join(folder, 'a'))).toEqual(['secrets.key']);
  });

  test('two machines with files of their own do not both store secrets', async () => {
    const results = await Promise.all([
      refusal(() => open('a').seal('s', 'x')),
      refusal(() => open('b').seal('s', 'x')),
    ]);
    expect(results.sort()).toEqual(['accepted', 'secrets_unusable']);
    expect(await database.sql`select id from runtime.secret_keys`).toHaveLength(1);
  });

  test.each([0o644, 0o604, 0o660])('of mode %o is refused with the command that corrects it', async (mode) => {
    await open().seal('a', 'x');
    await chmod(fileOf(), mode);
    expect(await refusal(() => open().seal('a', 'x'))).toBe('secrets_unusable');
    expect((await open().status()).problem).toContain(`chmod 600 ${fileOf()}`);
    expect(lines.join('')).toContain('chmod 600');
  });

  test('that is missing or another one is not replaced; its return makes the secrets readable again', async () => {
    const running = open();
    const sealed = await running.seal('a', 'hunter2');
    const right = await readFile(fileOf(), 'utf8');
    for (const wrong of [null, `${keyLine()}\n`, '', 'not a key\n']) {
      await rm(fileOf());
      if (wrong !== null) await writeFile(fileOf(), wrong, { mode: 0o600 });
      const secrets = open();
      expect(await refusal(() => secrets.seal('a', 'new'))).toBe('secrets_unusable');
      expect(await refusal(() => secrets.open('a', sealed))).toBe('secret_unreadable');
      expect((await secrets.status()).problem).toContain(fileOf());
      expect(await readFile(fileOf(), 'utf8').catch(() => null)).toBe(wrong);
      // A process that has read the key keeps it.
      expect(running.open('a', sealed)).toBe('hunter2');
      await writeFile(fileOf(), right, { mode: 0o600 });
      expect(secrets.open('a', sealed)).toBe('hunter2');
    }
    expect(await database.sql`select id from runtime.secret_keys`).toHaveLength(1);
  });

  test('with several keys: the first one encrypts, all decrypt, also in a process that runs', async () => {
    const running = open();
    const old = await running.seal('a', 'old');
    const [before] = (await running.status()).inFile;
    await writeFile(fileOf(), `# new\n${keyLine()}\n\n${await readFile(fileOf(), 'utf8')}`, { mode: 0o600 });
    const fresh = await open().seal('a', 'new');
    const { inFile, recorded } = await running.status();
    expect(inFile).toEqual([expect.not.stringMatching(before!), before]);
    expect([...recorded].sort()).toEqual([...inFile].sort());
    expect(fresh).toContain(inFile[0]);
    expect([running.open('a', old), running.open('a', fresh)]).toEqual(['old', 'new']);
    expect(await running.seal('a', 'x')).toContain(inFile[0]);
  });

  test('that gets a key while two processes run: each opens at once what the other one seals', async () => {
    const log = openLog({ level: 'silent' });
    const [one, two] = [0, 1].map(() => openSecrets({ sql: database.sql, file: fileOf(), log })) as [Secrets, Secrets];
    const old = await one.seal('a', 'old');
    // Has read the file in this second.
    expect(two.open('a', old)).toBe('old');
    await one.addKey();
    const fresh = await one.seal('a', 'new');
    expect(two.open('a', fresh)).toBe('new');
  });
});
