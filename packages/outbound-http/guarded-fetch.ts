import { Agent, fetch } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import { guardedConnector } from './guarded-connector.ts';

export type GuardedFetch = {
  /** As the global `fetch`. Redirects are followed only when the request says so, and the guard checks each of them. */
  readonly fetch: typeof globalThis.fetch;
  /** Cuts the connections. */
  close(): Promise<void>;
};

/** A `fetch` for clients of other services that take one (`openai`). */
export function openGuardedFetch(
  guard: AddressGuard,
  options: { connectMs: number; maxAnswerBytes: number; connectionsPerOrigin: number },
): GuardedFetch {
  const dispatcher = new Agent({
    connect: guardedConnector(guard, options),
    connections: options.connectionsPerOrigin,
    maxResponseSize: options.maxAnswerBytes,
  });
  const guarded = (input: Parameters<typeof fetch>[0], init: Parameters<typeof fetch>[1] = {}) =>
    fetch(input, { redirect: 'error', ...init, dispatcher });
  return {
    // undici's own types are those of the global fetch, declared a second time.
    fetch: guarded as unknown as typeof globalThis.fetch,
    close: () => dispatcher.destroy(),
  };
}
