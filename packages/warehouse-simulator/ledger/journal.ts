import { open } from 'node:fs/promises';
import type { Answer, Intent } from '../protocol.ts';

/** How the callback of a deed stands: owed ones are told after a restart. */
export type CallbackState = 'none' | 'owed' | 'lost' | 'delivered' | 'refused' | 'given_up';
/** `deed` comes again for a key when its answer, or what became of its callback, is known. */
export type JournalLine =
  | { t: 'open'; stock: number }
  | { t: 'stock'; sku_id: number; on_hand: number }
  | { t: 'deed'; intent: Intent; answer: Answer | null; callback: CallbackState }
  | { t: 'told'; key: string; callback: CallbackState };

export type Journal = {
  /** Answers when the line is with the operating system: it then outlives this process, though not a power cut. */
  add(line: JournalLine): Promise<void>;
  close(): Promise<void>;
};

const kinds: readonly unknown[] = ['open', 'stock', 'deed', 'told'] satisfies JournalLine['t'][];

const head = '{"t":"open"';

function readLine(text: string, where: string): JournalLine {
  let line: Partial<JournalLine> | null = null;
  try {
    line = JSON.parse(text) as Partial<JournalLine> | null;
  } catch {}
  if (!kinds.includes(line?.t)) throw new Error(`${where} is not of the journal of a simulated warehouse`);
  return line as JournalLine;
}

/** Hands all lines to `replay`, then appends. A line that a killed process left half written is cut off. */
export async function openJournal(path: string, replay: (line: JournalLine) => void): Promise<Journal> {
  const file = await open(path, 'a+');
  try {
    const text = await file.readFile('utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const lines = whole.split('\n').slice(0, -1);
    for (const [index, line] of lines.entries()) replay(readLine(line, `${path}:${index + 1}`));
    if (whole.length < text.length) {
      // A file of something else is left as it is.
      if (lines.length === 0 && !text.startsWith(head) && !head.startsWith(text)) readLine(text, `${path}:1`);
      await file.truncate(Buffer.byteLength(whole));
    }
  } catch (error) {
    await file.close();
    throw error;
  }

  let batch: string[] = [];
  let written = Promise.withResolvers<void>();
  let writing: Promise<void> | null = null;
  const write = async () => {
    while (batch.length > 0) {
      const [text, ready] = [batch.join(''), written];
      batch = [];
      written = Promise.withResolvers<void>();
      await file.appendFile(text).then(ready.resolve, ready.reject);
    }
    writing = null;
  };
  return {
    add(line) {
      batch.push(`${JSON.stringify(line)}\n`);
      const { promise } = written;
      // What arrives in the same turn, and while a batch is being written, shares one write.
      writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(write);
      return promise;
    },
    async close() {
      await writing;
      await file.close();
    },
  };
}

export const noJournal: Journal = { add: async () => {}, close: async () => {} };
