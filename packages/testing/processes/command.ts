import { Readable } from 'node:stream';
import { main } from '@tradepost/cli';
import { vi } from 'vitest';
import { type CommandResult, commandEnvironment } from './process.ts';

let running = false;

/**
 * Runs a command line in this process, with the environment that `runCommand` gives it. Faster than `runCommand` by the start
 * of a process. Lines of the log are not part of `stderr`. Only one call may run at a time.
 */
export async function runCommandInProcess(
  args: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): Promise<CommandResult> {
  if (running) throw new Error('a command is still running in this process');
  running = true;
  const output = { stdout: '', stderr: '' };
  const capture = (stream: 'stdout' | 'stderr') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      output[stream] += String(text);
      return true;
    });
  const before = { exitCode: process.exitCode, env: process.env };
  const stdin = vi
    .spyOn(process, 'stdin', 'get')
    .mockReturnValue(Readable.from([Buffer.from(input)], { objectMode: false }) as never);
  const spies = [capture('stdout'), capture('stderr'), stdin];
  try {
    process.exitCode = undefined;
    process.env = commandEnvironment(env);
    const code = await main(args);
    return { code: code ?? Number(process.exitCode ?? 0), ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.exitCode = before.exitCode;
    process.env = before.env;
    running = false;
  }
}
