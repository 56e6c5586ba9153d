import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** `traceparent` of version 00, and of later versions, which may append fields (W3C Trace Context). */
const traceparent = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const longestHeader = 256;

/** The trace that a request or a job belongs to. A new one gets its id when it is first needed: most requests need none. */
export class Trace {
  #id: string | null;
  /** `01` when the caller records the trace. */
  readonly flags: string;

  constructor(id: string | null = null, flags = '00') {
    this.#id = id;
    this.flags = flags;
  }

  get id(): string {
    this.#id ??= randomBytes(16).toString('hex');
    return this.#id;
  }

  /** The header for a call to another service. Each call has a parent id of its own. */
  header(): string {
    return `00-${this.id}-${randomBytes(8).toString('hex')}-${this.flags}`;
  }
}

/** Version, trace id, id of the caller's span and flags of a `traceparent` header. Null when it is missing or invalid. */
function partsOf(header: string | null | undefined): RegExpExecArray | null {
  if (header === null || header === undefined || header.length > longestHeader) return null;
  const parts = traceparent.exec(header);
  return parts === null || (parts[1] === '00' && header.length !== 55) ? null : parts;
}

const isSampled = (parts: RegExpExecArray): boolean => (Number.parseInt(parts[4]!, 16) & 1) === 1;

/** The trace of a `traceparent` header. A missing or invalid header begins a new trace. */
export function traceOf(header: string | null | undefined): Trace {
  const parts = partsOf(header);
  // Only the flag "sampled" is passed on: other flags may mean something else in other versions.
  return parts === null ? new Trace() : new Trace(parts[2]!, isSampled(parts) ? '01' : '00');
}

/** The span of the caller that a `traceparent` header names. `isSampled`: the caller records it. Null when it is missing or invalid. */
export function callerOf(
  header: string | null | undefined,
): { readonly traceId: string; readonly id: string; readonly isSampled: boolean } | null {
  const parts = partsOf(header);
  return parts && { traceId: parts[2]!, id: parts[3]!, isSampled: isSampled(parts) };
}

const traces = new AsyncLocalStorage<Trace | null>();

/** Runs `work` as a part of this trace, or of none. */
export const withTrace = <T>(trace: Trace | null, work: () => T): T => traces.run(trace, work);

export const currentTrace = (): Trace | null => traces.getStore() ?? null;

/** The header for a call to another service: of the current trace, or of a new one. */
export const traceHeaders = (): { traceparent: string } => ({ traceparent: (currentTrace() ?? new Trace()).header() });
