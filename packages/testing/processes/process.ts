import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { testKeyFile } from '../servers/key-file.ts';

const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
const loadStripped = new URL('stripped-modules.mjs', import.meta.url).href;

export type CommandResult = { code: number; stdout: string; stderr: string };

/** Only these variables are passed on: the environment of the test must not configure the command. */
export function commandEnvironment(extra: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '', STRIPPED_MODULES } = process.env;
  // Set by `strip-types.ts`.
  const stripped: Record<string, string> =
    STRIPPED_MODULES === undefined ? {} : { STRIPPED_MODULES, NODE_OPTIONS: `--import=${loadStripped}` };
  // The name of the command in printed lines does not depend on the PATH of the machine.
  const name = { TRADEPOST_COMMAND: 'tradepost' };
  return { PATH, HOME, LOG_LEVEL: 'error', TRADEPOST_SECRETS_KEY_FILE: testKeyFile, ...name, ...stripped, ...extra };
}

/** Runs the command in a new process and waits for its end. */
export async function runCommand(
  args: readonly string[],
  /**
   * After `timeoutMs` the command is killed, and its exit code is -1. `detached`: the command has no terminal, also when the tests run
   * at one.
   */
  options: { env?: Record<string, string>; input?: string; timeoutMs?: number; detached?: boolean } = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [script, ...args], {
    env: commandEnvironment(options.env ?? {}),
    killSignal: 'SIGKILL',
    detached: options.detached ?? false,
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
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

const started = /Shop API\s+(http:\S+)/;

/** Starts `tradepost start` in a new process and waits until its output matches `ready`. The first group is its URL; a worker has none. */
export const startProcess = (
  args: readonly string[],
  env: Record<string, string> = {},
  ready: RegExp = started,
  /** Command-line options of Node. */
  execArgv: readonly string[] = [],
): Promise<RunningServer> =>
  startScript(
    [...execArgv, script, 'start', '--port', '0', '--gateway-port', '0', '--admin-port', 'off', ...args],
    env,
    ready,
  );

/** Starts Node with this command line, and waits as `startProcess` does. */
export async function startScript(
  command: readonly string[],
  env: Record<string, string> = {},
  ready: RegExp = started,
): Promise<RunningServer> {
  const child = spawn(process.execPath, command, {
    env: commandEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // The server must end with the test process, even if the test fails.
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
