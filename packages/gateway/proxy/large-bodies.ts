import { type AskedFor, type Endpoint, parseBody, readBody } from '../messages/chat-request.ts';
import { openShapeScan } from '../messages/json-shape.ts';
import { type ProxyError, proxyErrors } from '../messages/openai-errors.ts';

/** Scanned in one turn of the event loop: two or three milliseconds. */
const stepBytes = 512 * 1024;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Reads large bodies one after the other, each in several turns of the event loop: the scan in steps, the parser in a turn, and what the
 * gateway wants to know in another one. So however many bodies wait, nobody waits for more than one step of one of them. The caller
 * bounds how many bytes wait.
 */
export function openLargeBodies() {
  let last: Promise<unknown> = Promise.resolve();

  async function read(endpoint: Endpoint, json: Buffer, isGone: () => boolean): Promise<AskedFor | ProxyError> {
    const scan = openShapeScan(json);
    for (;;) {
      // In a turn of its own from the first step on.
      await nextTurn();
      if (isGone()) return proxyErrors.client_gone();
      const found = scan(stepBytes);
      if (found === null) break;
      if (found !== 'more') return proxyErrors[found]();
    }
    await nextTurn();
    const parsed = parseBody(json);
    if ('status' in parsed) return parsed;
    await nextTurn();
    return readBody(endpoint, json, parsed.body);
  }

  /** `isGone`: whether nobody waits for the answer any more. */
  return (endpoint: Endpoint, bytes: Uint8Array, isGone: () => boolean): Promise<AskedFor | ProxyError> => {
    const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const reading = last.then(() => read(endpoint, json, isGone));
    last = reading.catch(() => {});
    return reading;
  };
}
