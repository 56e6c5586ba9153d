import { AppError } from '@tradepost/core';
import { MigrationError } from '@tradepost/postgres';
import { AlreadyRunningError, ConfigError } from '@tradepost/runtime';

/** 0 done, 1 failed, 2 wrong usage or configuration, 3 already running. */
export const exitCodes = { done: 0, failed: 1, usage: 2, alreadyRunning: 3 } as const;

const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint(1);
export const dim = paint(2);
export const green = paint(32);
export const red = paint(31);
export const yellow = paint(33);

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Progress goes to stderr: stdout stays what was asked for. */
export function progress(text: string): void {
  process.stderr.write(`${dim(text)}\n`);
}

/** Columns as wide as their widest cell; the last one is free. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A command line that cannot be run as it is. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Says what went wrong in words a person can act on, and answers the exit code. */
export function reportFailure(error: unknown): number {
  const write = (text: string) => process.stderr.write(`${red('error:')} ${text}\n`);
  if (error instanceof ConfigError || error instanceof UsageError) {
    write(error.message);
    return exitCodes.usage;
  }
  if (error instanceof AlreadyRunningError) {
    write(error.message);
    return exitCodes.alreadyRunning;
  }
  if (error instanceof AppError || error instanceof MigrationError) write(error.message);
  else if (error instanceof Error) write(process.env.DEBUG ? (error.stack ?? error.message) : error.message);
  else write(String(error));
  return exitCodes.failed;
}
