import { type ConcurrencyLimit, faultCode, networkFaultText } from '@tradepost/runtime';
import { type CallOutcome, noAnswer } from './answer.ts';

/** Texts for the faults that depend on this protocol. */
const ownFaults: Readonly<Record<string, string>> = {
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is larger than 1 MiB',
  UND_ERR_INVALID_ARG: 'the app key or the request id can not be sent as a header',
};

/** After these faults it is certain that no part of the call was sent. */
const unreachable: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

const faultText = (error: unknown) => networkFaultText(error, 'the call failed', ownFaults);

export const notSent = (message: string): CallOutcome => ({ ...noAnswer(message), unsent: true });

/**
 * Makes a function that runs a call within the concurrency limit and a deadline. It resolves to the outcome of the call. When the
 * deadline passes or the signal aborts, it resolves at once: the call was not sent, or it had no answer.
 */
export function openTimeLimit(limit: ConcurrencyLimit) {
  return async (
    timeoutMs: number,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<CallOutcome>,
  ): Promise<CallOutcome> => {
    const cutOff = Promise.withResolvers<CallOutcome>();
    const controller = new AbortController();
    let sent = false;
    // The promise is resolved here, because an aborted request that has no connection yet does not notice the abort.
    const stop = (message: string) => {
      cutOff.resolve(sent ? noAnswer(message) : notSent(message));
      controller.abort();
    };
    const timer = setTimeout(() => stop(`no answer within ${timeoutMs} ms`), timeoutMs);
    const onAbort = () => stop('the call was given up');
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const answered = limit.acquire(controller.signal).then((granted) => {
        if (!granted) return notSent('too many calls wait for this warehouse');
        sent = true;
        return run(controller.signal)
          .catch((error: unknown) => (unreachable.has(faultCode(error)) ? notSent : noAnswer)(faultText(error)))
          .finally(limit.release);
      });
      return await Promise.race([cutOff.promise, answered]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  };
}
