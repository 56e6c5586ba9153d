import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const script = join(import.meta.dirname, '../../../bin/tradepost.ts');

export type CommandResult = { code: number; stdout: string; stderr: string };

/** Only what a command needs: nothing of the test's own environment leaks into its configuration. */
function environment(extra: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LOG_LEVEL: 'error', ...extra };
}

/** Runs the command to its end. */
export async function runCommand(
  args: readonly string[],
  /** After `limitMs` it is killed, and its code is -1. */
  options: { env?: Record<string, string>; input?: string; limitMs?: number } = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [script, ...args], {
    env: environment(options.env ?? {}),
    killSignal: 'SIGKILL',
    ...(options.limitMs === undefined ? {} : { timeout: options.limitMs }),
  });
  const result = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    result.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    result.stderr += chunk.toString();
  });
  child.stdin.end(options.input ?? '');
  const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? -1)));
  return { code, ...result };
}

export type RunningServer = { url: string; child: ChildProcess; output(): string; ended: Promise<number | null> };

/** `tradepost start` as a process of its own, ready to be asked and to be killed. A worker alone has no address. */
export async function startProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  ready: RegExp = /Shop API\s+(http:\S+)/,
  /** Options of Node. */
  execArgv: readonly string[] = [],
): Promise<RunningServer> {
  const command = [...execArgv, script, 'start', '--port', '0', '--gateway-port', '0', ...args];
  const child = spawn(process.execPath, command, {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that fails half-way must not leave its server behind.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  void ended.then(() => process.off('exit', kill));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const match = ready.exec(output);
      if (match) resolve(match[1] ?? '');
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((code) => reject(new Error(`start ended with ${code}: ${output}`)));
  });
  return { url, child, output: () => output, ended };
}
