import { faultKind } from '../../login/fault-kind.ts';
import { SendError } from '../sender.ts';

const deadlineMs = 5_000;
const maxAnswerBytes = 64 * 1024;

/** The text of the answer, up to a limit. The rest of a longer answer is not read. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > maxAnswerBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Posts to a service, with a deadline of 5 s that includes the answer. Throws a `SendError` when there is no answer. With
 * `isRead` false the body of the answer is not read, and `text` is empty.
 */
export async function postMessage(
  url: string | URL,
  request: { headers: Record<string, string>; body?: string },
  { service, signal, isRead }: { service: string; signal: AbortSignal; isRead: boolean },
): Promise<{ status: number; ok: boolean; text: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      ...request,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
    });
    const { status, ok } = response;
    if (isRead) return { status, ok, text: await readText(response) };
    await response.body?.cancel();
    return { status, ok, text: '' };
  } catch (error) {
    // The message of the error may have the address and the body. Neither may appear in a log.
    throw new SendError(`${service} can not be reached: ${faultKind(error)}`);
  }
}

/** Parses JSON. Undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error for a code of an SMS service. Only a plain code is quoted: other text could repeat the phone. */
export function refusedBy(service: string, code: string, retryable: RegExp): SendError {
  const plain = /^[A-Za-z][A-Za-z._]{0,79}$/.test(code) ? code : 'an unknown code';
  return new SendError(`${service} answered ${plain}`, { permanent: !retryable.test(code) });
}
