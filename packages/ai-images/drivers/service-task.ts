import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { type PictureRequest, ServiceError, type ServiceIo, type ServicePicture } from './driver.ts';
import { connectionError, statusError } from './service-fault.ts';

/** A service is asked for the end of its task after this pause, then after longer ones. */
const firstPauseMs = 500;
const longestPauseMs = 5_000;

type Answer = { readonly ok: boolean; readonly status: number; readonly json: unknown; retryAfter: string | null };

/** One request with a JSON answer. An answer with the status of an error need not be JSON. */
export async function askJson({ fetch, signal }: ServiceIo, url: URL, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, { ...init, signal });
    const { ok, status, headers } = response;
    const text = await response.text();
    const retryAfter = headers.get('retry-after');
    if (ok) return { ok, status, json: JSON.parse(text), retryAfter };
    return { ok, status, json: parsedOrNull(text), retryAfter };
  } catch (error) {
    throw connectionError(error);
  }
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The error of an answer with the status of an error, with the reason that its body gives. */
export const answerError = ({ status, retryAfter }: Answer, reason: string): ServiceError =>
  statusError(status, `${status} ${reason}`.trim(), retryAfter);

/** An answer of the form of `schema`. The answer of a service is not trusted. */
export function readAnswer<T extends z.ZodType>(schema: T, json: unknown): z.output<T> {
  const { data, success } = schema.safeParse(json);
  if (!success) throw new ServiceError('wrong_answer', 'it has another form', { permanent: false });
  return data;
}

/**
 * Asks for the pictures of a task at a service until it has ended. The end of the attempt is the deadline. A question without an
 * answer is repeated: another attempt would start and pay another task. `picturesOf` returns null while the task runs.
 */
export async function untilDone(
  { signal, pauseMs = firstPauseMs }: ServiceIo,
  ask: () => Promise<unknown>,
  picturesOf: (answer: unknown) => readonly ServicePicture[] | null,
): Promise<readonly ServicePicture[]> {
  let retryAfterMs = 0;
  for (let pause = pauseMs; ; pause = Math.min(pause * 1.5, longestPauseMs)) {
    await sleep(Math.max(pause, retryAfterMs), undefined, { signal }).catch((error: unknown) => {
      throw connectionError(error);
    });
    const answer = await ask().catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.failure !== 'unavailable') throw error;
      ({ retryAfterMs } = error);
      return undefined;
    });
    const pictures = answer === undefined ? null : picturesOf(answer);
    if (pictures === null) continue;
    if (pictures.length === 0) throw new ServiceError('wrong_answer', 'it has no pictures', { permanent: false });
    return pictures;
  }
}

/** The reference image as a URL that has the bytes. */
export const dataUrl = ({ bytes, mime }: NonNullable<PictureRequest['refImage']>): string =>
  `data:${mime};base64,${bytes.toString('base64')}`;
