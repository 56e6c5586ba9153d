import { createInterface } from 'node:readline/promises';

/** Asks a question whose default answer is no. Asks on stderr, so that stdout carries the result alone. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
