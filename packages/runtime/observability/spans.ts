import { callerOf, currentTrace, Trace, traceOf, withTrace } from './trace.ts';

/** Names of OpenTelemetry where it has one. Never secrets, values of queries, or ids of persons: a collector keeps them. */
export type Attributes = Readonly<Record<string, string | number>>;

/** What a span is about. Made once per route or task: a request makes no object for it. */
export type Operation<T = unknown> = {
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  /** Has few values: it names a route, a task or a service. */
  readonly name: string;
  readonly attributes?: Attributes;
  /** What the result adds. `error.type` marks the span as failed. */
  readonly ofResult?: (result: T) => Attributes;
};

type SpanId = { readonly traceId: string; readonly id: string };

/** A span that is recorded. */
export type Span = SpanId & {
  set(attributes: Attributes): void;
  end(): void;
};

export type Recorder = {
  /**
   * Begins a span. Without a parent it begins a trace, and null is returned when the trace is not sampled. A trace with links is
   * always sampled: the linked spans are.
   */
  begin(operation: Operation<never>, parent: SpanId | null, links?: readonly SpanId[]): Span | null;
};

/** The trace inside a recorded span: calls and jobs are children of the span. */
class SpanTrace extends Trace {
  readonly span: Span;

  constructor(span: Span) {
    super(span.traceId, '01');
    this.span = span;
  }

  override header(): string {
    return traceparentOf(this.span);
  }
}

/** Of the process, as the settings of the export are. Null: nothing is recorded, which costs a request this one test. */
let recorder: Recorder | null = null;

/** Records the spans of this process until the returned function is called. */
export function recordSpans(by: Recorder): () => void {
  recorder = by;
  return () => {
    if (recorder === by) recorder = null;
  };
}

export const traceparentOf = ({ traceId, id }: SpanId): string => `00-${traceId}-${id}-01`;

/** The kind of an error. Its message may have secrets. */
function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const text = String(code ?? name);
  return /^[\w.-]{1,64}$/.test(text) ? text : 'error';
}

/** Runs `work` in a span, which ends with it. */
function inSpan<T>(span: Span, { ofResult }: Operation<Awaited<T>>, work: () => T): T {
  const done = (result: Awaited<T>) => {
    if (ofResult) span.set(ofResult(result));
    span.end();
    return result;
  };
  const failed = (error: unknown): never => {
    span.set({ 'error.type': errorType(error) });
    span.end();
    throw error;
  };
  let result: T;
  try {
    result = withTrace(new SpanTrace(span), work);
  } catch (error) {
    return failed(error);
  }
  return result instanceof Promise ? (result.then(done, failed) as T) : done(result as Awaited<T>);
}

/**
 * Runs a request or a job in the trace of its `traceparent`, or in a new one, as a span when it is recorded: a trace that its
 * caller samples, or a share of the new ones.
 */
export function inTrace<T>(traceparent: string | null | undefined, operation: Operation<Awaited<T>>, work: () => T): T {
  if (recorder === null) return withTrace(traceOf(traceparent), work);
  const caller = callerOf(traceparent);
  const span = caller === null || caller.isSampled ? recorder.begin(operation, caller) : null;
  return span === null ? withTrace(traceOf(traceparent), work) : inSpan(span, operation, work);
}

/**
 * Runs the batch of a group commit. A batch of one call belongs to its trace, a larger one to none of the traces: its span has a
 * link to each.
 */
export function inBatchTrace<T>(
  operation: Operation<Awaited<T>>,
  calls: readonly { readonly trace: Trace | null }[],
  work: () => T,
): T {
  const trace = calls.length === 1 ? calls[0]!.trace : null;
  if (recorder === null) return withTrace(trace, work);
  const spans = calls.flatMap((call) => (call.trace instanceof SpanTrace ? [call.trace.span] : []));
  if (spans.length === 0) return withTrace(trace, work);
  const span = trace === null ? recorder.begin(operation, null, spans) : recorder.begin(operation, spans[0]!);
  return span === null ? withTrace(trace, work) : inSpan(span, operation, work);
}

/** Adds to the current span. */
export function annotateSpan(name: string, value: string | number): void {
  if (recorder === null) return;
  const trace = currentTrace();
  if (trace instanceof SpanTrace) trace.span.set({ [name]: value });
}

/** Begins the span of a call to another service. Null when it is not recorded. The caller ends it. */
export function beginCall(operation: Operation<never>): Span | null {
  if (recorder === null) return null;
  const trace = currentTrace();
  if (trace === null) return recorder.begin(operation, null);
  return trace instanceof SpanTrace ? recorder.begin(operation, trace.span) : null;
}

/** Runs `call`, which sends `traceHeaders()` to another service, in a span of its own when it is recorded. */
export function inCall<T>(operation: Operation<T>, call: () => Promise<T>): Promise<T> {
  const span = beginCall(operation);
  return span === null ? call() : inSpan(span, operation, call);
}
