import { main } from '@tradepost/cli';
import { vi } from 'vitest';
import type { CommandResult } from './process.ts';

/** A command line in this process: as `runCommand`, without the second that a new process takes. One at a time. */
export async function runHere(args: readonly string[]): Promise<CommandResult> {
  const said = { stdout: '', stderr: '' };
  const listen = (stream: 'stdout' | 'stderr') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      said[stream] += String(text);
      return true;
    });
  const before = process.exitCode;
  const spies = [listen('stdout'), listen('stderr')];
  try {
    process.exitCode = undefined;
    const code = await main(args);
    return { code: code ?? Number(process.exitCode ?? 0), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.exitCode = before;
  }
}
