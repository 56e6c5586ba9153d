import { openSync } from 'node:fs';
import { ReadStream, WriteStream } from 'node:tty';
import { type Command, Option } from 'commander';
import { UsageError } from '../output.ts';
import { readHiddenLine, type TerminalInput } from './hidden-line.ts';

/** Longer than any secret or token. A file that was piped in by mistake is refused. */
const maxCharacters = 64 * 1024;

export type SecretStreams = { input: TerminalInput; output: NodeJS.WritableStream };
const processStreams = (): SecretStreams => ({ input: process.stdin, output: process.stderr });

/**
 * The terminal of this process where standard input is something else, as in a loop over the lines of a file. Null without a
 * terminal, as under cron. Close it after use.
 */
function controllingTerminal(): (SecretStreams & { close(): void }) | null {
  try {
    const input = new ReadStream(openSync('/dev/tty', 'r'));
    const output = new WriteStream(openSync('/dev/tty', 'w'));
    return {
      input,
      output,
      close() {
        input.destroy();
        output.destroy();
      },
    };
  } catch {
    return null;
  }
}

/** Reads one line from the terminal without showing it. Rejects with UsageError when the input ends before a line. */
async function promptHidden(question: string, { input, output }: SecretStreams): Promise<string> {
  // The terminal is silent before it asks.
  const answer = readHiddenLine(input);
  output.write(`${question}: `);
  const line = await answer.finally(() => output.write('\n'));
  if (line === null) throw new UsageError(`${question}: nothing was given`);
  return line;
}

async function readAll(input: SecretStreams['input'], what: string): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > maxCharacters) throw new UsageError(`${what}: more than ${maxCharacters} characters`);
  }
  return text.replace(/\r?\n$/, '');
}

/**
 * Reads a secret of one line from standard input. On a terminal it asks at a hidden prompt, twice with `confirm`. Secrets are
 * never arguments, because every process of the machine can read a command line. Throws
 * UsageError when the secret is empty.
 */
export async function readSecret(
  what: string,
  { confirm = false, streams = processStreams() }: { confirm?: boolean; streams?: SecretStreams } = {},
): Promise<string> {
  const typed = streams.input.isTTY === true;
  const secret = typed ? await promptHidden(what, streams) : await readAll(streams.input, what);
  if (secret === '') throw new UsageError(`${what}: standard input is empty`);
  if (/[\r\n]/.test(secret)) throw new UsageError(`${what}: one line only`);
  if (typed && confirm && (await promptHidden(`${what} again`, streams)) !== secret)
    throw new UsageError(`${what}: the two differ`);
  return secret;
}

/**
 * Reads a new password at a hidden prompt, twice, from the terminal of this process, also where standard input is something else.
 * Throws UsageError with `instead` where the process has no terminal.
 */
export async function askForPassword(what: string, instead: string): Promise<string> {
  if (process.stdin.isTTY && process.stderr.isTTY) return readSecret(what, { confirm: true });
  const terminal = controllingTerminal();
  if (terminal === null) throw new UsageError(instead);
  try {
    return await readSecret(what, { confirm: true, streams: terminal });
  } finally {
    terminal.close();
  }
}

/** The refusal of a secret on the command line. `instead` says how to give it. The text never contains the secret. */
export const secretAsArgument = (what: string, instead: string) =>
  new UsageError(`${what}: every process of this machine can read the command line: ${instead}`);

/** Adds a hidden option that took a secret in earlier versions. Its use is refused with the text `instead`. */
export function refuseSecretOption(command: Command, flags: string, instead: string): Command {
  const option = new Option(flags).hideHelp();
  return command.addOption(option).hook('preAction', (_program, action) => {
    if (action.opts()[option.attributeName()] !== undefined) throw secretAsArgument(option.long ?? flags, instead);
  });
}

/** Warns when an address on the command line contains a password. */
export function warnOfPassword(option: string, address: unknown, instead: string): void {
  if (typeof address !== 'string' || !URL.canParse(address)) return;
  const { password, searchParams } = new URL(address);
  if (password === '' && ![...searchParams.keys()].some((name) => /pass/i.test(name))) return;
  process.stderr.write(
    `warning: ${option} holds a password, which every process of this machine can read: use ${instead}\n`,
  );
}
