import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { BodyStream } from '@tradepost/http';
import { uploadErrors } from '../errors.ts';
import { formLimits } from '../limits.ts';

/** The field of the form that has the file. */
const fileField = 'file';

/** A form while it arrives. A form whose file is not read does not go on. */
export type Form = {
  /** The content of the file. Null when the form has ended without one. */
  readonly file: Promise<Readable | null>;
  /** The text fields that have been read so far. */
  readonly fieldsSoFar: ReadonlyMap<string, string>;
  /** The text fields, when the whole form has been read. */
  readonly fields: Promise<ReadonlyMap<string, string>>;
  /** The first error, which is the reason of the errors of the other parts. */
  failure(): Error | null;
  /** Stops reading: the rest of the body is not needed. */
  cancel(): void;
};

function openParser(contentType: string) {
  if (!/^multipart\/form-data\b/i.test(contentType)) throw uploadErrors.not_multipart();
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: formLimits });
  } catch {
    // It throws for a missing boundary.
    throw uploadErrors.not_multipart();
  }
}

/**
 * Reads a multipart form part by part. Nothing but the current chunk is in memory: when the file is not read, the body
 * waits. The first error ends both promises; an error of the body is passed on as it is.
 */
export function readForm(body: BodyStream): Form {
  const parser = openParser(body.type);
  const chunks = body[Symbol.asyncIterator]();
  const stopped = new AbortController();
  const file = Promise.withResolvers<Readable | null>();
  const fields = new Map<string, string>();
  let current: Readable | null = null;
  let failure: Error | null = null;
  const fail = (error: Error) => {
    if (failure) return;
    failure = error;
    stopped.abort();
    current?.destroy(error);
    file.reject(error);
  };
  parser.on('error', () => fail(uploadErrors.malformed_form()));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => fail(uploadErrors.malformed_form()));
  parser.on('field', (name, value) => fields.set(name, value));
  parser.on('file', (field, stream) => {
    // A part that ends too early. An AbortError only says that the reader of the file has stopped.
    stream.on('error', ({ name }) => {
      if (name !== 'AbortError') fail(uploadErrors.malformed_form());
    });
    if (field !== fileField) return void stream.resume();
    if (current) return fail(uploadErrors.one_file());
    current = stream;
    file.resolve(stream);
  });

  const pump = async () => {
    try {
      for (;;) {
        const { done, value } = await chunks.next();
        if (done || failure) break;
        if (!parser.write(value)) await once(parser, 'drain', { signal: stopped.signal });
      }
      if (!failure) {
        const finished = once(parser, 'finish', { signal: stopped.signal });
        parser.end();
        await finished;
      }
    } catch (error) {
      fail(error as Error);
    }
    if (failure) throw failure;
    file.resolve(null);
    return fields;
  };
  const read = pump();
  // The caller may end before it awaits them.
  read.catch(() => {});
  file.promise.catch(() => {});
  return {
    file: file.promise,
    fieldsSoFar: fields,
    fields: read,
    failure: () => failure,
    cancel() {
      fail(uploadErrors.malformed_form());
      chunks.return?.(undefined)?.catch(() => {});
    },
  };
}
