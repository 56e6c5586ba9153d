import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

/** JSON lines on stderr, or in a file while a terminal view owns the screen. Tokens and passwords never reach it. */
export function openLog(options: { level: string; file?: string | undefined; stream?: DestinationStream }): Log {
  const target =
    options.stream ?? destination(options.file ? { dest: options.file, mkdir: true, sync: false } : { dest: 2, sync: true });
  return pino(
    {
      level: options.level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: { paths: ['password', 'token', 'authorization', 'secret', '*.password', '*.token', '*.authorization'] },
    },
    target,
  );
}
