import pLimit from 'p-limit';
import { type Endpoint, parseBody, type RequestFacts, readBody } from '../messages/chat-request.ts';
import { openShapeScan } from '../messages/json-shape.ts';
import { type ProxyError, proxyErrors } from '../messages/openai-errors.ts';

/** Bytes that are scanned in one iteration of the event loop: two or three milliseconds. */
const stepBytes = 512 * 1024;

const nextIteration = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Reads one body. The scan, the parser and the reading of fields each run in an iteration of their own. */
async function readInSteps(
  endpoint: Endpoint,
  json: Buffer,
  isGone: () => boolean,
): Promise<RequestFacts | ProxyError> {
  const scan = openShapeScan(json);
  for (;;) {
    await nextIteration();
    if (isGone()) return proxyErrors.client_gone();
    const found = scan(stepBytes);
    if (found === null) break;
    if (found !== 'more') return proxyErrors[found]();
  }
  await nextIteration();
  const parsed = parseBody(json);
  if ('status' in parsed) return parsed;
  await nextIteration();
  return readBody(endpoint, json, parsed.body);
}

/**
 * Returns the function that reads large bodies, one after the other. However many bodies wait, other requests wait for one
 * step of one of them. The caller bounds how many bytes wait. `isGone`: whether the client has disconnected.
 */
export function openLargeBodies() {
  const oneAtATime = pLimit(1);
  return (endpoint: Endpoint, bytes: Uint8Array, isGone: () => boolean): Promise<RequestFacts | ProxyError> => {
    const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return oneAtATime(readInSteps, endpoint, json, isGone);
  };
}
