import { open } from 'node:fs/promises';
import type { Answer, Intent } from '../protocol.ts';

/** The state of an action's callback. A callback that is `owed` is sent after a restart. */
export type CallbackState = 'none' | 'owed' | 'lost' | 'delivered' | 'refused' | 'given_up';
/** An `action` line is repeated for a key when its answer is known. A `callback` line changes the state of its callback. */
export type JournalLine =
  | { t: 'open'; stock: number }
  | { t: 'stock'; sku_id: number; on_hand: number }
  | { t: 'action'; intent: Intent; answer: Answer | null; callback: CallbackState }
  | { t: 'callback'; key: string; callback: CallbackState };

export type Journal = {
  /** Resolves when the operating system has the line. It survives a killed process, but not a power failure. */
  add(line: JournalLine): Promise<void>;
  close(): Promise<void>;
};

const kinds: readonly unknown[] = ['open', 'stock', 'action', 'callback'] satisfies JournalLine['t'][];
/** The names of two kinds in journals of earlier versions. */
const earlierKinds: Readonly<Record<string, JournalLine['t']>> = { deed: 'action', told: 'callback' };

const head = '{"t":"open"';

function readLine(text: string, where: string): JournalLine {
  let line: { t?: string } | null = null;
  try {
    line = JSON.parse(text) as { t?: string } | null;
  } catch {}
  const t = earlierKinds[line?.t ?? ''] ?? line?.t;
  if (!kinds.includes(t)) throw new Error(`${where} is not of the journal of a simulated warehouse`);
  return { ...line, t } as JournalLine;
}

/** Passes all lines to `replay`, then appends new ones. An incomplete last line of a killed process is cut off. */
export async function openJournal(path: string, replay: (line: JournalLine) => void): Promise<Journal> {
  const file = await open(path, 'a+');
  try {
    const text = await file.readFile('utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const lines = whole.split('\n').slice(0, -1);
    for (const [index, line] of lines.entries()) replay(readLine(line, `${path}:${index + 1}`));
    if (whole.length < text.length) {
      // A file that is not a journal is not changed.
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
      // Lines of one event-loop iteration share a write, and so do lines that arrive during a write.
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
