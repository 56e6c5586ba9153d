import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { describe, expect, test } from 'vitest';
import { readHiddenLine } from './hidden-line.ts';

async function typed(...chunks: (string | Buffer)[]): Promise<string | null> {
  const input = new PassThrough();
  const line = readHiddenLine(input);
  for (const chunk of chunks) input.write(chunk);
  return line;
}

test('keys that change the line', async () => {
  expect(await typed('s3cret\r')).toBe('s3cret');
  expect(await typed('s3x\x7fcr\bret', '\n')).toBe('s3cret');
  expect(await typed('wrong\x15right\r')).toBe('right');
  expect(await typed('\x7f\x7fa\r')).toBe('a');
  expect(await typed('ab\x1b[Dc\x1b[3~\x1bOP\r'), 'arrows and function keys').toBe('abc');
  expect(await typed('\x1b[200~pasted\x1b[201~\r'), 'a pasted text').toBe('pasted');
});

test('characters of several bytes, also when they arrive in parts', async () => {
  const bytes = Buffer.from('密é😀\r');
  expect(await typed(...[...bytes].map((byte) => Buffer.from([byte])))).toBe('密é😀');
  expect(await typed('密😀\x7f\r')).toBe('密');
});

test('Ctrl-C, Ctrl-D and the end of the input come first', async () => {
  expect(await typed('abc\x03')).toBeNull();
  expect(await typed('abc\x04')).toBeNull();
  const input = new PassThrough();
  const line = readHiddenLine(input);
  input.end('abc');
  expect(await line).toBeNull();
});

test('what follows the line is the next line', async () => {
  const input = new PassThrough();
  input.write('first\r\nsecond\r');
  expect(await readHiddenLine(input)).toBe('first');
  expect(await readHiddenLine(input)).toBe('second');
});

/** Types lines at a terminal of its own, each when the program asks. Returns what the terminal shows. */
async function atTerminal(command: string, answers: readonly string[], term: string): Promise<string> {
  const child = spawn('script', ['-qec', `${command}; stty -a`, '/dev/null'], {
    env: { ...commandEnvironment({ TERM: term }), SHELL: '/bin/sh' },
  });
  let shown = '';
  let answered = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    const asked = shown.match(/: (?:\r\n|$)/g)?.length ?? 0;
    if (asked > answered && answered < answers.length) child.stdin.write(answers[answered++]!);
  });
  await new Promise((resolve) => child.on('close', resolve));
  return shown;
}

describe.skipIf(spawnSync('script', ['--version']).error !== undefined)('at a terminal', () => {
  const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
  const create = `${process.execPath} ${script} staff create ann --data /nonexistent`;

  test.each([
    ['a usual terminal', create, 'xterm'],
    ['a dumb terminal', create, 'dumb'],
    ['standard input from elsewhere', `${create} < /dev/null`, 'xterm'],
    ['prompts that standard error does not show', `${create} 2> /dev/null`, 'xterm'],
  ])('%s: the password is asked for twice and not shown', async (_name, command, term) => {
    const shown = await atTerminal(command, ['hidden-one\r', 'hidden-two\r'], term);
    expect(shown).toContain('Password: ');
    expect(shown).toContain('Password again: ');
    expect(shown).not.toContain('hidden');
  });

  test('Ctrl-C ends the prompt, and the terminal shows what is typed again', async () => {
    const shown = await atTerminal(create, ['hidden\x03'], 'xterm');
    expect(shown).toContain('nothing was given');
    expect(shown).toMatch(/\becho\b/);
    expect(shown).toMatch(/ icanon\b/);
  });
});
