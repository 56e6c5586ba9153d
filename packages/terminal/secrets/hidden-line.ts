import { StringDecoder } from 'node:string_decoder';

export type TerminalInput = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

const controls = { backspace: ['\b', '\x7f'], clear: ['\x15'], end: ['\x03', '\x04'] } as const;
const isIn = (keys: readonly string[], key: string) => keys.includes(key);
/** Arrows and other keys that send several bytes, and the marks around a pasted text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal sends them
const escapes = /\x1b(?:\[[0-9;?]*[A-Za-z~]|O.|.)?/gu;

/**
 * Reads a line from a terminal that shows nothing of it. Null when Ctrl-C, Ctrl-D or the end of the input comes first. It is no line of
 * `node:readline`: with TERM=dumb that takes a backspace for a character of the password.
 */
export function readHiddenLine(input: TerminalInput): Promise<string | null> {
  const decoder = new StringDecoder('utf8');
  const line: string[] = [];
  input.setRawMode?.(true);
  return new Promise<string | null>((resolve, reject) => {
    const finish = (result: string | null) => {
      input.off('data', onData).off('end', onEnd).off('error', reject).pause();
      resolve(result);
    };
    const onEnd = () => finish(null);
    const onData = (chunk: Buffer | string) => {
      const text = typeof chunk === 'string' ? chunk : decoder.write(chunk);
      const keys = [...text.replaceAll(escapes, '')];
      for (const [at, key] of keys.entries()) {
        if (key === '\r' || key === '\n') {
          const rest = keys
            .slice(at + 1)
            .join('')
            .replace(/^\n/, '');
          finish(line.join(''));
          // A pasted text may have the next line too.
          if (rest !== '') input.unshift(Buffer.from(rest));
          return;
        }
        if (isIn(controls.end, key)) return finish(null);
        if (isIn(controls.backspace, key)) line.pop();
        else if (isIn(controls.clear, key)) line.length = 0;
        else if (key >= ' ') line.push(key);
      }
    };
    input.on('data', onData).on('end', onEnd).on('error', reject).resume();
  }).finally(() => input.setRawMode?.(false));
}
