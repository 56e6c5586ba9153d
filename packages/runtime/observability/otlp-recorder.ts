import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Recorder } from './spans.ts';

/** Spans that wait for the collector or are on their way to it. Further ones are dropped. */
const maxWaiting = 2_048;
const maxBatch = 512;
const everyMs = 2_000;
/** For a batch with its repeats. At the end of the process a collector that does not answer holds it no longer. */
const timeoutMs = 5_000;

type SpanCounts = {
  exported(spans: number): void;
  /** The queue is full. */
  dropped(spans: number): void;
  failed(spans: number, error: unknown): void;
};

export type OtlpOptions = {
  /** The base URL of the collector. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The share of new traces that is recorded, 0 to 1. */
  readonly ratio: number;
  readonly resource: Readonly<Record<string, string>>;
  readonly counts: SpanCounts;
};

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.toString();
}

/** The processor of the SDK bounds only the spans that wait, and does not say how many it drops. */
function boundedProcessor({ endpoint, headers, counts }: OtlpOptions): SpanProcessor {
  let waiting = 0;
  const otlp = new OTLPTraceExporter({ url: tracesUrl(endpoint), headers: { ...headers }, timeoutMillis: timeoutMs });
  const exporter: SpanExporter = {
    export(spans, done) {
      otlp.export(spans, (result) => {
        waiting -= spans.length;
        if (result.error) counts.failed(spans.length, result.error);
        else counts.exported(spans.length);
        done(result);
      });
    },
    shutdown: () => otlp.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    ...{ exporter, maxQueueSize: maxWaiting, maxExportBatchSize: maxBatch, scheduledDelayMillis: everyMs },
    // The exporter ends before.
    exportTimeoutMillis: 2 * timeoutMs,
  });
  return {
    onStart() {},
    onEnd(span: ReadableSpan) {
      if (waiting >= maxWaiting) return counts.dropped(1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

/** Samples a share of the new traces, and each trace that is linked to a recorded one. */
function newTraceSampler(ratio: number): Sampler {
  const share = new TraceIdRatioBasedSampler(ratio);
  return {
    shouldSample: (context, traceId, _name, _kind, _attributes, links) =>
      links.length > 0 ? { decision: SamplingDecision.RECORD_AND_SAMPLED } : share.shouldSample(context, traceId),
    toString: () => share.toString(),
  };
}

const contextOf = ({ traceId, id }: { traceId: string; id: string }) => ({
  ...{ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED },
  isRemote: true,
});

/** Exports spans to a collector with the protocol OTLP (HTTP, protobuf). `close` sends what waits. */
export function openOtlpRecorder(options: OtlpOptions): Recorder & { close(): Promise<void> } {
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: newTraceSampler(options.ratio) }),
    resource: resourceFromAttributes({ ...options.resource }),
    spanProcessors: [boundedProcessor(options)],
  });
  const tracer = provider.getTracer('tradepost');
  return {
    begin({ kind, name, attributes = {} }, parent, links = []) {
      const within: Context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
      const given = {
        kind: kinds[kind],
        attributes: { ...attributes },
        links: links.map((one) => ({ context: contextOf(one) })),
      };
      const span = tracer.startSpan(name, given, within);
      if (!span.isRecording()) return null;
      const { traceId, spanId } = span.spanContext();
      return {
        ...{ traceId, id: spanId },
        set(more) {
          span.setAttributes(more);
          if ('error.type' in more) span.setStatus({ code: SpanStatusCode.ERROR });
        },
        end: () => span.end(),
      };
    },
    close: () => provider.shutdown(),
  };
}
