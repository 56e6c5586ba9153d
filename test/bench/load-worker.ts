import { connect, type Socket } from 'node:net';
import { newHistogram } from './histogram.ts';
import type { LoadEvent, LoadJob, LoadResult } from './load.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/**
 * The load generator. It is its own process, so that its CPU time does not count as the server's. Each connection has one
 * request in flight, sends prebuilt bytes and reads into one buffer. Responses must have a Content-Length.
 */
const readBuffer = 64 * 1024;
const drainMs = 5_000;
const headEnd = Buffer.from('\r\n\r\n');
const contentLength = /\ncontent-length: *(\d+)/i;
/** The envelope begins with its code. Other answers count under their HTTP status. */
const envelopeStart = Buffer.from('{"code":');
const sendEvent = (event: LoadEvent) => process.send?.(event);

function codeOf(status: string, body: Buffer): string {
  if (envelopeStart.compare(body, 0, Math.min(envelopeStart.length, body.length)) !== 0) return `HTTP ${status}`;
  return String(Number.parseInt(body.toString('latin1', 8, 16), 10));
}

async function run(job: LoadJob): Promise<LoadResult> {
  const scenario = scenarios[job.scenario] as Scenario<unknown>;
  const latencies = newHistogram();
  const units = newHistogram();
  const codes: Record<string, number> = {};
  const failures: string[] = [];
  const sockets: Socket[] = [];
  let answers = 0;
  let measuring = false;
  let stopping = false;
  let open = 0;
  let allClosed = () => {};

  function connection(index: number): void {
    const steps = scenario(job.data, index, job.connections);
    let call = steps.next().value!;
    let sentAt = performance.now();
    let unitAt = sentAt;
    let partial: Buffer | null = null;
    const fail = (reason: string) => {
      if (failures.length < 20) failures.push(reason);
      socket.destroy();
    };
    const answered = (status: string, body: Buffer) => {
      const code = codeOf(status, body);
      codes[code] = (codes[code] ?? 0) + 1;
      const now = performance.now();
      if (measuring) {
        answers += 1;
        latencies.record((now - sentAt) * 1000);
        if (call.completes) units.record((now - unitAt) * 1000);
      }
      // A unit that was begun is finished, so that the counts here and in the database agree.
      if (stopping && call.completes) {
        socket.end();
        return;
      }
      if (call.completes) unitAt = now;
      call = steps.next(body).value!;
      sentAt = now;
      socket.write(call.bytes);
    };
    const received = (chunk: Buffer) => {
      const bytes = partial ? Buffer.concat([partial, chunk]) : chunk;
      const end = bytes.indexOf(headEnd);
      const head = end < 0 ? '' : bytes.toString('latin1', 0, end);
      // An answer 304 has no body.
      const length = end < 0 || head.startsWith('304', 9) ? 0 : Number(contentLength.exec(head)?.[1] ?? Number.NaN);
      if (Number.isNaN(length)) return fail('the answer has no Content-Length');
      if (end < 0 || bytes.length < end + 4 + length) {
        partial = Buffer.from(bytes);
        return;
      }
      partial = null;
      answered(head.slice(9, 12), bytes.subarray(end + 4, end + 4 + length));
    };
    const socket = connect({
      port: job.port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(readBuffer),
        callback: (size, buffer) => {
          received((buffer as Buffer).subarray(0, size));
          return true;
        },
      },
    });
    sockets.push(socket);
    open += 1;
    socket.on('connect', () => {
      sentAt = unitAt = performance.now();
      socket.write(call.bytes);
    });
    socket.on('error', (error) => fail(error.message));
    socket.on('end', () => {
      if (!stopping) fail('the server closed the connection');
    });
    socket.on('close', () => {
      open -= 1;
      if (open === 0) allClosed();
    });
  }

  const closed = new Promise<void>((resolve) => {
    allClosed = resolve;
  });
  for (let i = 0; i < job.connections; i++) connection(i);
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  await Promise.race([pause(job.warmupSeconds * 1000), closed]);
  const cpuFrom = process.cpuUsage();
  const from = performance.now();
  measuring = true;
  sendEvent({ event: 'measuring' });
  await Promise.race([pause(job.seconds * 1000), closed]);
  measuring = false;
  const seconds = (performance.now() - from) / 1000;
  sendEvent({ event: 'measured' });
  const cpu = process.cpuUsage(cpuFrom);
  stopping = true;
  await Promise.race([closed, pause(drainMs)]);
  if (open > 0) failures.push(`${open} connections had no answer ${drainMs / 1000} s after the end`);
  for (const socket of sockets) socket.destroy();
  return {
    seconds,
    answers,
    units: units.count(),
    perSecond: units.count() / seconds,
    p50: units.quantile(0.5),
    p99: units.quantile(0.99),
    max: units.max(),
    answerP50: latencies.quantile(0.5),
    answerP99: latencies.quantile(0.99),
    codes,
    failures,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
}

process.once('message', (job) => {
  run(job as LoadJob)
    .then(
      (result) => sendEvent({ event: 'done', result }),
      (error: unknown) => sendEvent({ event: 'failed', reason: String(error) }),
    )
    .finally(() => process.disconnect());
});
// The parent has ended, so no process waits for the result.
process.once('disconnect', () => process.exit());
