import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;
let folder: string;
const script = (shell: string) => join(folder, `tradepost.${shell}`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runCommandInProcess(['completion', shell]);
    expect(code).toBe(0);
    await writeFile(script(shell), stdout);
  }
  await writeFile(join(folder, 'shop one.json'), '{}');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The completions that Tab offers for these words. The last word is the one at the cursor. */
function offered(...words: string[]): string[] {
  const asked = ['tradepost', ...words];
  const program = `
    source "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _tradepost
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const done = spawnSync('bash', ['--norc', '-c', program, 'bash', script('bash'), ...asked], {
    encoding: 'utf8',
    cwd: folder,
  });
  expect(done.stderr).toBe('');
  return done.stdout.split('\n').filter(Boolean);
}

describe.runIf(has('bash'))('in bash', () => {
  test('commands, and commands of a group', () => {
    expect(offered('')).toEqual(expect.arrayContaining(['start', 'audit', 'jobs', 'doctor', 'completion', 'settings']));
    expect(offered('do')).toEqual(['doctor']);
    expect(offered('jobs', '')).toEqual(['list', 'show', 'retry', 'discard', 'help']);
    expect(offered('jobs', 'r')).toEqual(['retry']);
  });

  test('options of the command, also after values that look like commands', () => {
    expect(offered('audit', '--')).toEqual(expect.arrayContaining(['--json', '--only', '--limit', '--data', '--help']));
    expect(offered('audit', '--li')).toEqual(['--limit', '--list']);
    expect(offered('jobs', 'list', '--task', 'start', '--fa')).toEqual(['--failed']);
    expect(offered('jobs', 'list', '--task', '=', 'start', '--fa')).toEqual(['--failed']);
    expect(offered('jobs', 'list', '--po')).toEqual([]);
  });

  test('keys of settings, where a command takes one', () => {
    for (const command of ['get', 'set', 'unset', 'list', 'log'])
      expect(offered('settings', command, 'orders.unpaid')).toEqual(['orders.unpaid_minutes']);
    expect(offered('settings', 'set', 'shop.time')).toEqual(['shop.time_zone']);
  });

  test('values of settings that have few, and options behind them', () => {
    expect(offered('settings', 'set', 'pay.instant', '')).toEqual(['true', 'false']);
    expect(offered('settings', 'set', 'inventory.external_mode', 's')).toEqual(['sync']);
    expect(offered('settings', 'set', 'storage_router.default_driver', '')).toEqual(['local', 'oss', 'cos', 'qiniu']);
    expect(offered('settings', 'set', 'pay.instant', 'true', '--data')).toEqual(['--data', '--database-url']);
  });

  test('names that an option takes', () => {
    expect(offered('audit', '--only', 'inven')).toEqual(expect.arrayContaining(['inventory', 'inventory.sold']));
    expect(offered('events', 'list', '--name', 'order.pai')).toEqual(['order.paid']);
    expect(offered('pay', 'reconcile', '--provider', 'w')).toEqual(['wechat']);
  });

  test('values: fixed words, files with blanks in their names, folders, and no completion for free text', () => {
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(offered('start', '--seed', '')).toEqual(['demo', 'none']);
    expect(offered('start', '--only', '')).toEqual(['api', 'worker', 'gateway']);
    expect(offered('audit', '--config', 'shop')).toEqual(['shop one.json']);
    expect(offered('audit', '--config', '=', 'shop')).toEqual(['shop one.json']);
    expect(offered('audit', '--data', 'shop')).toEqual([]);
    expect(offered('audit', '--limit', '')).toEqual([]);
  });
});

describe.each(['bash', 'zsh', 'fish'])('%s', (shell) => {
  test.skipIf(!has(shell))('accepts its script without an error', () => {
    const { status, stderr } = spawnSync(shell, ['-n', script(shell)], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

test('an unknown shell is wrong usage, and the help says where to install the script', async () => {
  expect(await runCommandInProcess(['completion', 'tcsh'])).toMatchObject({ code: 2 });
  expect((await runCommandInProcess(['completion', '--help'])).stdout).toMatch(
    /bash-completion[\s\S]*zfunc[\s\S]*fish/,
  );
});
