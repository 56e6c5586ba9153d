type NodeReadable = AsyncIterable<Uint8Array> & { pipe: unknown; destroy?: (error?: Error) => void };
export type Body = string | Uint8Array | ReadableStream<Uint8Array> | NodeReadable | null | undefined;
export type Parts = { status: number; statusText: string; headers: string[]; body: Body };

export const toParts = (response: Response): Parts => {
  const fast = response as unknown as { _toNodeResponse?: () => Parts };
  if (typeof fast._toNodeResponse === 'function') return fast._toNodeResponse();
  const headers: string[] = [];
  for (const [name, value] of response.headers) headers.push(name, value);
  return { status: response.status, statusText: response.statusText, headers, body: response.body };
};

export const toStream = (body: ReadableStream<Uint8Array> | NodeReadable): ReadableStream<Uint8Array> =>
  body instanceof ReadableStream
    ? body
    : (ReadableStream as unknown as { from(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> }).from(body);

export const discard = (body: Body): void => {
  if (body == null || typeof body === 'string' || body instanceof Uint8Array) return;
  if (body instanceof ReadableStream) {
    if (!body.locked) body.cancel().catch(() => {});
  } else body.destroy?.();
};
