import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendEvent, takeJob } from './child.ts';
import { newHistogram } from './histogram.ts';

/**
 * The load generator of `gateway.ts`. Unlike `load-worker.ts` it reads chunked answers, can hold a fixed rate, and compares
 * every body with the expected one.
 */
export type GatewayLoadJob = {
  port: number;
  /** A whole HTTP request. */
  request: string;
  body: string;
  connections: number;
  /** Requests per second over all connections; null: each request follows the previous answer. */
  perSecond: number | null;
  warmupSeconds: number;
  seconds: number;
};
export type GatewayLoad = {
  perSecond: number;
  /** Milliseconds to the end of an answer, and to the first bytes of its body. */
  p50: number;
  p99: number;
  firstP50: number;
  firstP99: number;
  /** Answers in the measured time, and all answers. */
  measured: number;
  answers: number;
  /** CPU microseconds of the generator per answer. */
  cpu: number;
};

const drainMs = 5_000;
const lastChunk = '0\r\n\r\n';

/** Whether bytes of the body have arrived after the head. */
function bodyBegun(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  return end >= 0 && text.length > end + 4;
}

/** The body of a complete answer, else null. */
function bodyOf(text: string): string | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = text.slice(0, end).toLowerCase();
  if (!head.startsWith('http/1.1 200')) throw new Error(`answered ${text.slice(0, 400)}`);
  const length = /\ncontent-length: *(\d+)/.exec(head);
  if (length) {
    const body = text.slice(end + 4);
    return body.length < Number(length[1]) ? null : body;
  }
  // No event of the stream ends with these bytes.
  if (!text.endsWith(lastChunk)) return null;
  let body = '';
  for (let at = end + 4; ; ) {
    const line = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, line), 16);
    if (size === 0) return body;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

takeJob(async (job: GatewayLoadJob): Promise<GatewayLoad> => {
  const bytes = Buffer.from(job.request);
  const total = newHistogram();
  const first = newHistogram();
  const everyMs = job.perSecond === null ? 0 : (1000 * job.connections) / job.perSecond;
  let answers = 0;
  let measuring = false;
  let stopping = false;

  const connection = (index: number) =>
    new Promise<void>((resolve, reject) => {
      let text = '';
      let sentAt = 0;
      let firstAt = 0;
      // Connections send evenly distributed over the interval.
      let due = performance.now() + (everyMs * index) / job.connections;
      const send = () => {
        if (stopping) return socket.end();
        // A late request counts from the time at which it was due.
        sentAt = everyMs > 0 && performance.now() - due > 2 ? due : performance.now();
        due += everyMs;
        firstAt = 0;
        socket.write(bytes);
      };
      const next = () => {
        const wait = everyMs > 0 ? due - performance.now() : 0;
        if (wait > 0) setTimeout(send, wait);
        else send();
      };
      const received = (piece: string) => {
        const now = performance.now();
        text += piece;
        if (firstAt === 0 && bodyBegun(text)) firstAt = now;
        const body = bodyOf(text);
        if (body === null) return;
        if (body !== job.body) throw new Error(`the answer differs from the expected one: ${body.slice(0, 400)}`);
        text = '';
        answers++;
        if (measuring) {
          total.record(Math.round((now - sentAt) * 1000));
          first.record(Math.round((firstAt - sentAt) * 1000));
        }
        next();
      };
      const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true });
      socket.setEncoding('latin1');
      socket.on('connect', next);
      socket.on('data', (piece) => {
        try {
          received(String(piece));
        } catch (error) {
          reject(error);
          socket.destroy();
        }
      });
      socket.on('error', reject);
      socket.on('close', () => {
        if (stopping) resolve();
        else reject(new Error('the server closed the connection'));
      });
    });

  const closed = Promise.all(Array.from({ length: job.connections }, (_, index) => connection(index)));
  await Promise.race([sleep(job.warmupSeconds * 1000), closed]);
  const cpuFrom = process.cpuUsage();
  const from = performance.now();
  measuring = true;
  sendEvent('begin');
  await Promise.race([sleep(job.seconds * 1000), closed]);
  measuring = false;
  const seconds = (performance.now() - from) / 1000;
  sendEvent('end');
  const cpu = process.cpuUsage(cpuFrom);
  stopping = true;
  const late = sleep(drainMs, undefined, { ref: false }).then(() => {
    throw new Error(`connections had no answer ${drainMs / 1000} s after the end`);
  });
  await Promise.race([closed, late]);
  const measured = total.count();
  return {
    perSecond: measured / seconds,
    p50: total.quantile(0.5),
    p99: total.quantile(0.99),
    firstP50: first.quantile(0.5),
    firstP99: first.quantile(0.99),
    ...{ measured, answers, cpu: (cpu.user + cpu.system) / measured },
  };
});
