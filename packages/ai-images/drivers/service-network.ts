import { setTimeout as sleep } from 'node:timers/promises';
import { openAddressGuard, openGuardedFetch, parseTarget } from '@tradepost/outbound-http';
import { tracedFetch } from '@tradepost/runtime';
import { maxAnswerBytes } from '../limits.ts';
import { ServiceError } from './driver.ts';
import { connectionError } from './service-fault.ts';

type Fetch = typeof globalThis.fetch;

/**
 * Asks for answers that are not compressed and refuses others: the limit counts bytes of the network, and a compressed answer
 * can unpack to a thousand times as many.
 */
function uncompressed(fetch: Fetch): Fetch {
  const bounded: Fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('accept-encoding', 'identity');
    const form = init.body instanceof FormData ? new Response(init.body) : null;
    // The fetch of undici does not know the FormData of Node.js, and would send its name.
    const body = form ? new Uint8Array(await form.arrayBuffer()) : (init.body ?? null);
    if (form) headers.set('content-type', form.headers.get('content-type')!);
    const response = await fetch(input, { ...init, headers, body });
    const encoding = response.headers.get('content-encoding') ?? 'identity';
    if (encoding === 'identity') return response;
    await response.body?.cancel();
    throw new ServiceError('wrong_answer', 'it is compressed', { permanent: true });
  };
  // The openai client asks this class whether the fetch sends forms.
  return Object.assign(bounded, { Response });
}

export type ServiceNetwork = ReturnType<typeof openServiceNetwork>;

/** The connections to services. `allowedNetworks` are the private networks that the operator allows. */
export function openServiceNetwork(allowedNetworks: readonly string[]) {
  const options = { connectMs: 10_000, maxAnswerBytes, connectionsPerOrigin: 8 };
  const entered = openAddressGuard({ allowedNetworks });
  const publicOnly = openAddressGuard({ allowedNetworks: [] });
  const enteredFetch = openGuardedFetch(entered, options);
  const publicFetch = openGuardedFetch(publicOnly, options);
  return {
    /** For addresses that staff enter. */
    guard: entered,
    /** For endpoints and reference images. */
    fetch: uncompressed(tracedFetch('ai-service', enteredFetch.fetch)),
    /**
     * For pictures whose addresses a service answers. A service on the internet must not name addresses of private networks, not
     * even of the allowed ones. A service in an allowed network may.
     */
    async pictureFetch(endpoint: string): Promise<Fetch> {
      const isPrivate = (await publicOnly.check(new URL(endpoint))) === 'private_address';
      return uncompressed(tracedFetch('ai-picture', isPrivate ? enteredFetch.fetch : publicFetch.fetch));
    },
    async close(): Promise<void> {
      await Promise.all([enteredFetch.close(), publicFetch.close()]);
    },
  };
}

/** The pauses before an address that is busy is asked again. */
const busyPausesMs = [500, 2_000];

/** The answer of an address, or its error. */
async function openPicture(fetch: Fetch, url: URL, signal: AbortSignal): Promise<Response | ServiceError> {
  try {
    const response = await fetch(url, { redirect: 'follow', signal, headers: { accept: 'image/*' } });
    if (response.ok) return response;
    const { status } = response;
    await response.body?.cancel();
    const isBusy = status >= 500 || status === 429;
    const reason = `the address of a picture answers ${status}`;
    return new ServiceError(isBusy ? 'unavailable' : 'wrong_answer', reason, { permanent: false });
  } catch (error) {
    return connectionError(error);
  }
}

/**
 * The bytes at an address. Redirects are followed, and each is checked. An address that is busy is asked again: another attempt
 * would pay for another picture. Throws ServiceError.
 */
export async function* readPicture(fetch: Fetch, address: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const url = parseTarget(address);
  if (typeof url === 'string')
    throw new ServiceError('wrong_answer', 'the address of a picture is not an http address', { permanent: true });
  let answer = await openPicture(fetch, url, signal);
  for (const pause of busyPausesMs) {
    if (!(answer instanceof ServiceError) || answer.failure !== 'unavailable' || signal.aborted) break;
    await sleep(pause, undefined, { signal }).catch(() => {});
    answer = await openPicture(fetch, url, signal);
  }
  if (answer instanceof ServiceError) throw answer;
  try {
    for await (const chunk of answer.body ?? []) yield chunk;
  } catch (error) {
    throw connectionError(error);
  }
}
