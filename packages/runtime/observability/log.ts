import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { currentTrace } from './trace.ts';

export type Log = Logger;

type LoggedError = {
  type: string;
  message: string;
  code?: unknown;
  constraint?: unknown;
  stack?: string;
  cause?: LoggedError;
};

/** The loggable fields of an error. The statement and parameters of a database error are not among them. */
function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code, constraint_name: constraint } = error as { code?: unknown; constraint_name?: unknown };
  // Messages of class 22 quote the invalid value: `invalid input syntax for type bigint: "..."`.
  const quotes = error.name === 'PostgresError' && String(code).startsWith('22');
  const message = quotes ? error.message.replace(/".*"/s, '"..."') : error.message;
  return {
    type: error.name,
    message,
    ...(code !== undefined ? { code } : {}),
    ...(constraint !== undefined ? { constraint } : {}),
    ...(error.stack ? { stack: error.stack.replace(error.message, () => message) } : {}),
    ...(error.cause !== undefined && depth < 3 ? { cause: loggedError(error.cause, depth + 1) } : {}),
  };
}

const secrets = ['password', 'token', 'authorization', 'secret'];

/** Writes JSON lines to stderr, or to a file while a terminal view uses the screen. Tokens and passwords are masked. */
export function openLog(options: { level: string; file?: string | undefined; stream?: DestinationStream }): Log {
  const target =
    options.stream ??
    destination(options.file ? { dest: options.file, mkdir: true, sync: false } : { dest: 2, sync: true });
  return pino(
    {
      level: options.level,
      base: { pid: process.pid },
      formatters: { level: (level) => ({ level }) },
      serializers: { err: (error: unknown) => loggedError(error), error: (error: unknown) => loggedError(error) },
      // The trace of the request or job that writes the line.
      mixin: () => {
        const trace = currentTrace();
        return trace ? { trace_id: trace.id } : {};
      },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      // Three levels deep, as in `{ req: { headers: { authorization } } }`.
      redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]) },
    },
    target,
  );
}
