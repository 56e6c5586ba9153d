import type { Log } from '@tradepost/runtime';
import { FastResponse } from 'srvx';
import type { httpMetrics } from '../http-metrics.ts';
import { anyOrigin } from '../routing/envelope.ts';

/** The file that a route with `file` answers. The name is part of a header. */
export type FileDefinition = { readonly type: string; readonly name: string };

/** A file that is made while it is sent. A piece is made when the client has taken the one before it. */
export class StreamedFile<T extends string = string> {
  readonly pieces: AsyncIterable<T>;

  constructor(pieces: AsyncIterable<T>) {
    this.pieces = pieces;
  }
}

/** A file whose first piece is made, or null as its body for HEAD. */
export class BegunFile {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;

  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>> | null) {
    this.body = body;
  }
}

/** Slow readers do not keep a slot for ever. */
const maxFileMs = 30 * 60_000;

type Sending = {
  log: Log;
  metrics: Pick<ReturnType<typeof httpMetrics>, 'files'>;
  trace: string;
  where: string;
  /** Called once, when the last statement of the file has ended. */
  release: () => void;
  /** For tests. */
  limitMs?: number;
};

/**
 * Begins a file. An error of the first piece rejects, so it is answered with an envelope. A later error breaks the stream,
 * and the transport closes the connection without the end of the body. When the client leaves, the source is ended.
 */
export async function beginFile({ pieces }: StreamedFile, sending: Sending): Promise<BegunFile> {
  const { log, metrics, trace, where, release, limitMs = maxFileMs } = sending;
  const source = pieces[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  // `return` of a generator waits for the statement that runs.
  const end = async (outcome: 'complete' | 'left' | 'cut'): Promise<void> => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    metrics.files.labels(outcome).inc();
    await Promise.resolve(source.return?.()).catch(() => {});
    release();
  };
  let first: IteratorResult<string> | null;
  try {
    first = await source.next();
  } catch (error) {
    isOver = true;
    release();
    throw error;
  }
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        timer = setTimeout(() => cut(controller, new Error(`not taken within ${limitMs} ms`)), limitMs).unref();
      },
      async pull(controller) {
        try {
          const { value, done } = first ?? (await source.next());
          first = null;
          if (isOver) return;
          if (!done) return controller.enqueue(encoder.encode(value));
          controller.close();
          await end('complete');
        } catch (error) {
          cut(controller, error);
        }
      },
      cancel: () => end('left'),
    },
    // Nothing is made before the transport asks for it.
    { highWaterMark: 0 },
  );
  function cut(controller: ReadableStreamDefaultController, error: unknown): void {
    if (isOver) return;
    log.error({ err: error, trace, where }, 'a file was cut');
    controller.error(error);
    void end('cut');
  }
  return new BegunFile(body);
}

/** Runs the handler of a route that answers a file, and begins the file. When the handler fails, its slot is released. */
export async function openFile(handle: () => Promise<StreamedFile>, sending: Sending): Promise<BegunFile> {
  let file: StreamedFile;
  try {
    file = await handle();
  } catch (error) {
    sending.release();
    throw error;
  }
  return beginFile(file, sending);
}

/** The answer to HEAD: the handler runs, so that it can refuse, and nothing of its file is made. */
export async function openEmptyFile(handle: () => Promise<StreamedFile>): Promise<BegunFile> {
  await handle();
  return new BegunFile(null);
}

export function respondFile({ body }: BegunFile, { type, name }: FileDefinition, traceId: string): Response {
  const headers: [string, string][] = [
    ['content-type', type],
    ['content-disposition', `attachment; filename="${name}"`],
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', traceId],
    anyOrigin,
    ['access-control-expose-headers', 'Content-Disposition'],
  ];
  return new FastResponse(body, { headers });
}
