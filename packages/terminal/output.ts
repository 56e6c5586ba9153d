import { isAbsolute } from 'node:path';
import { styleText } from 'node:util';
import { AppError } from '@tradepost/core';
import { MigrationError } from '@tradepost/postgres';
import { AlreadyRunningError, accountName, ConfigError, runtimeErrors } from '@tradepost/runtime';
import widthOf from 'fast-string-width';
import { asCalled } from './command-name.ts';

/** 0 done, 1 failed, 2 wrong usage or configuration, 3 already running. */
export const exitCodes = { done: 0, failed: 1, usage: 2, alreadyRunning: 3 } as const;

/** Styles text for the stream that prints it. The text stays plain where the stream is no terminal, and with NO_COLOR. */
const paint =
  (style: Parameters<typeof styleText>[0]) =>
  (text: string, stream: NodeJS.WriteStream = process.stdout): string =>
    styleText(style, text, { stream });
export const bold = paint('bold');
export const dim = paint('dim');
export const green = paint('green');
export const red = paint('red');
export const yellow = paint('yellow');

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Progress goes to stderr, so that stdout holds only the result. */
export function progress(text: string): void {
  process.stderr.write(`${dim(text, process.stderr)}\n`);
}

/**
 * Aligns cells in columns, two blanks apart. Widths are those of a terminal: a Chinese character takes two columns.
 * `alignRight` chooses columns of figures. The last column is not padded on its right.
 */
export function table(
  rows: readonly (readonly string[])[],
  { alignRight = () => false }: { alignRight?: (column: number) => boolean } = {},
): string {
  const cellWidths = rows.map((row) => row.map((cell) => widthOf(cell)));
  const widths = (rows[0] ?? []).map((_, column) =>
    cellWidths.reduce((most, row) => Math.max(most, row[column] ?? 0), 0),
  );
  const padded = (cell: string, row: number, column: number) => {
    const padding = ' '.repeat(Math.max(0, (widths[column] ?? 0) - (cellWidths[row]?.[column] ?? 0)));
    return alignRight(column) ? padding + cell : cell + padding;
  };
  return rows
    .map((cells, row) =>
      cells
        .map((cell, column) => padded(cell, row, column))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** An argument, an option or the standard input is not valid. The process ends with exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

const { unknown_setting, invalid_setting, fixed_setting, read_only_setting } = runtimeErrors;
const settingRefusals = [unknown_setting, invalid_setting, fixed_setting, read_only_setting];

/** Whether the command line or the configuration is wrong, whatever the database holds. */
const isUsage = (error: unknown): error is Error =>
  error instanceof ConfigError ||
  error instanceof UsageError ||
  (error instanceof AppError && settingRefusals.some(({ refusal }) => refusal === error.refusal));

/**
 * The message of an error. A file that the account may not use has the name of the account, and one that is missing its folder:
 * the command of a service changes both.
 */
function textOf(error: Error & { code?: string; path?: string }): string {
  const { code, message, path } = error;
  if (code === 'EACCES' && path !== undefined) return `${message}, as the user ${accountName()}`;
  if (code === 'ENOENT' && path !== undefined && !isAbsolute(path)) return `${message}, in ${process.cwd()}`;
  return message;
}

/** Prints an error on stderr and returns the exit code. The stack is printed with DEBUG only. */
export function reportFailure(error: unknown): number {
  const write = (text: string) => process.stderr.write(`${red('error:', process.stderr)} ${asCalled(text)}\n`);
  if (isUsage(error)) {
    write(error.message);
    return exitCodes.usage;
  }
  if (error instanceof AlreadyRunningError) {
    write(error.message);
    return exitCodes.alreadyRunning;
  }
  if (error instanceof AppError || error instanceof MigrationError) write(error.message);
  else if (error instanceof Error) write(process.env.DEBUG ? (error.stack ?? error.message) : textOf(error));
  else write(String(error));
  return exitCodes.failed;
}
