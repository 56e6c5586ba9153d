import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openAlipay } from './alipay/alipay-service.ts';
import { cashierAnswer } from './cashier.ts';
import { openLedger } from './ledger.ts';
import type { Answered, Notice, NoticeOptions, PaymentService, Received, ServiceName, ShopAnswer } from './service.ts';
import { openStripe } from './stripe/stripe-service.ts';
import { openWechat } from './wechat/wechat-service.ts';

export type SimulatorOptions = {
  /** Default: 127.0.0.1 and a free port. */
  host?: string;
  port?: number;
  now?: () => Date;
  /** Sends the notices of a payment at the cashier, and settles refunds, by itself. */
  automatic?: boolean;
};

const maxBodyBytes = 64 * 1024;
const noticeMs = 10_000;
/** The services by the first part of the path. The SDK of Stripe knows only hosts. */
const nameOf: Readonly<Record<string, ServiceName>> = { wechat: 'wechat', alipay: 'alipay', v1: 'stripe' };
/** An automatic refund is settled this long after it was requested. */
const settleMs = 1_000;

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  return bytes > maxBodyBytes ? null : Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, headers = {}, body }: Answered): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(body);
}

async function deliver({ url, headers, body }: Notice): Promise<ShopAnswer> {
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(noticeMs) });
  return { status: response.status, text: await response.text() };
}

/** A service with what a test or an operator does to it. */
function controlled<T extends PaymentService>(service: T) {
  return {
    ...service,
    /** Sends a notice about a payment. */
    notify: (paymentNo: string, options?: NoticeOptions) => deliver(service.paymentNotice(paymentNo, options)),
    /** Sends a notice about a refund. */
    notifyRefund: (refundNo: string, options?: NoticeOptions) => deliver(service.refundNotice(refundNo, options)),
    /** Sends a notice again as it was. */
    deliver,
    settleRefund: (refundNo: string, status: 'succeeded' | 'failed') => service.ledger.settleRefund(refundNo, status),
  };
}

/** Starts WeChat Pay, Alipay and Stripe on one port. */
export async function openPaymentSimulator(options: SimulatorOptions = {}) {
  const { host = '127.0.0.1', port = 0, now = () => new Date(), automatic = false } = options;
  let address = '';
  const deps = { now, base: () => address };
  const wechat = controlled(openWechat(openLedger(now), deps));
  const alipay = controlled(openAlipay(openLedger(now), deps));
  const stripe = controlled(openStripe(openLedger(now), deps));
  const services = { wechat, alipay, stripe } as const satisfies Record<ServiceName, unknown>;
  const counters = { wechat: 0, alipay: 0, stripe: 0, refused: 0 };
  const timers = new Set<NodeJS.Timeout>();

  /** Settles the refunds that are still being processed, a moment later. */
  const settleSoon = (name: ServiceName) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      const { ledger, notifyRefund } = services[name];
      for (const { refund_no, status } of ledger.refunds()) {
        if (status !== 'processing') continue;
        ledger.settleRefund(refund_no, 'succeeded');
        // A shop that does not answer asks again itself.
        notifyRefund(refund_no).catch(() => {});
      }
    }, settleMs);
    timers.add(timer);
  };

  const answer = async (request: IncomingMessage): Promise<Answered> => {
    const body = await bodyOf(request);
    if (body === null) return { status: 413, body: '{}' };
    const target = request.url ?? '/';
    if (target === '/_counters') return { status: 200, body: JSON.stringify(counters) };
    const [, first = ''] = target.split(/[/?]/);
    const method = request.method ?? 'GET';
    const name = nameOf[first];
    if (!name) return cashierAnswer(services, { method, target }, automatic);
    const received: Received = {
      ...{ method, target: target.slice(first.length + 1), body },
      headers: new Headers(request.headers as Record<string, string>),
    };
    const answered = await services[name].answer(received);
    if (answered.status < 400) counters[name] += 1;
    else counters.refused += 1;
    if (automatic) settleSoon(name);
    return answered;
  };
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    answer(request).then(
      (answered) => send(response, answered),
      (error: Error) => send(response, { status: 500, body: JSON.stringify({ error: error.message }) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  address = `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${bound}`;
  return {
    url: address,
    ...services,
    counters: () => ({ ...counters }),
    /** The shop settings for all services. */
    settings: () => Object.values(services).flatMap((service) => service.settings()),
    async close(): Promise<void> {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type PaymentSimulator = Awaited<ReturnType<typeof openPaymentSimulator>>;
