/** The body of a request as it arrives. It can be iterated once. */
export type BodyStream = AsyncIterable<Uint8Array> & {
  /** The Content-Type as sent, with its parameters. Empty when the request has none. */
  readonly type: string;
  /** The declared length in bytes. Null for a chunked body. */
  readonly length: number | null;
};

/**
 * The reason why a body ended early. aborted: the client closed the connection. timeout: the client stopped sending, or
 * was too slow. too_large: a chunked body exceeded its limit. no_memory: the memory for bodies is used up.
 */
export type BodyFault = 'aborted' | 'timeout' | 'too_large' | 'no_memory';

/** The iteration of a body rejects with this error when the body does not arrive completely. */
export class BodyStreamError extends Error {
  readonly fault: BodyFault;
  /** The largest body in bytes. */
  readonly limit: number;

  constructor(fault: BodyFault, limit: number) {
    super(`The body of the request ended early: ${fault}`);
    this.name = 'BodyStreamError';
    this.fault = fault;
    this.limit = limit;
  }
}

/** A body that a transport receives. `error` is the reason of its early end. */
export type ArrivingBody = BodyStream & { readonly error: BodyStreamError | null };

/** The bodies that the transports receive, by request. */
export const arrivingBodies = new WeakMap<Request, ArrivingBody>();

const noBytes: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

/** The stream of a request without a body. */
export const noBodyStream: BodyStream = {
  type: '',
  length: 0,
  [Symbol.asyncIterator]: () => noBytes[Symbol.asyncIterator](),
};

async function* withinLimit(body: ReadableStream<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.byteLength;
      if (size > limit) throw new BodyStreamError('too_large', limit);
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The declared length of a body in bytes. Null when it is chunked. */
const lengthOf = ({ headers }: Request): number | null => {
  const declared = headers.get('content-length');
  if (declared !== null) return Number(declared);
  return headers.has('transfer-encoding') ? null : 0;
};

/** What a request declares about its body: its length and its media type without parameters, which clients generate. */
export function declaredBodyOf(request: Request): string {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  return `${lengthOf(request) ?? 'chunked'} ${type.trim().toLowerCase()}`;
}

/** The body of a request as a stream. `limit` holds for requests that came without a transport. */
export function bodyStreamOf(request: Request, limit: number): BodyStream {
  const arriving = arrivingBodies.get(request);
  if (arriving) return arriving;
  const type = request.headers.get('content-type') ?? '';
  const { body } = request;
  if (body === null) return { ...noBodyStream, type };
  return { type, length: lengthOf(request), [Symbol.asyncIterator]: () => withinLimit(body, limit) };
}
