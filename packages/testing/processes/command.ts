import { Readable } from 'node:stream';
import { main } from '@tradepost/cli';
import { vi } from 'vitest';
import type { CommandResult } from './process.ts';

/** A command line in this process: as `runCommand`, without the second that a new process takes. One at a time. */
export async function runHere(args: readonly string[], { input = '' } = {}): Promise<CommandResult> {
  const said = { stdout: '', stderr: '' };
  const listen = (stream: 'stdout' | 'stderr') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      said[stream] += String(text);
      return true;
    });
  const before = process.exitCode;
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([input]) as never);
  const spies = [listen('stdout'), listen('stderr'), stdin];
  try {
    process.exitCode = undefined;
    const code = await main(args);
    return { code: code ?? Number(process.exitCode ?? 0), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.exitCode = before;
  }
}
