import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/fields.ts';
import { openCountedWarning } from './counted-warning.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { recordSpans } from './spans.ts';

/** Ends the export. What waits is sent, at most for `deadlineMs`. */
type EndExport = (deadlineMs: number) => Promise<void>;

/**
 * Records the spans of this process and exports them to the configured collector. Without one, or without a version, nothing is
 * loaded and nothing recorded. A collector that does not answer is a warning in the log and costs spans, and nothing else.
 */
export async function exportSpans(
  { config, log, metrics }: { config: Config; log: Log; metrics: Metrics },
  instance: string,
  version: string | undefined,
): Promise<EndExport> {
  const { otlpEndpoint: endpoint, otlpHeaders: headers = {}, otelServiceName, traceRatio: ratio } = config;
  if (endpoint === undefined || version === undefined) return async () => {};
  const { openOtlpRecorder } = await import('./otlp-recorder.ts');
  const warn = openCountedWarning(log, 'spans are lost: the collector of traces does not take them');
  const count = (result: string) => (spans: number) => metrics.spans.inc({ result }, spans);
  const recorder = openOtlpRecorder({
    ...{ endpoint, headers, ratio },
    resource: {
      'service.name': otelServiceName,
      'service.version': version,
      'service.instance.id': instance,
    },
    counts: {
      exported: count('exported'),
      dropped(spans) {
        count('dropped')(spans);
        warn({ reason: 'too many spans wait for it' });
      },
      failed(spans, error) {
        count('failed')(spans);
        warn({ err: error });
      },
    },
  });
  const stop = recordSpans(recorder);
  return async (deadlineMs) => {
    stop();
    const closed = recorder.close().catch(() => {});
    await Promise.race([closed, sleep(deadlineMs, undefined, { ref: false })]);
  };
}
