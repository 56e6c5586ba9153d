import { Socket } from 'node:net';

/**
 * Runs @portkey-ai/gateway as its `npm start` does, and adds an end on SIGTERM. Connections to other machines end the
 * process.
 */
const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: never[]) {
  const [first] = args.flat() as { host?: string }[];
  const host = typeof first === 'object' ? (first.host ?? 'localhost') : 'unknown';
  if (!['127.0.0.1', 'localhost', '::1'].includes(host)) {
    process.stderr.write(`@portkey-ai/gateway wants to talk to ${host}\n`);
    process.exit(1);
  }
  return Reflect.apply(connect, this, args);
} as typeof connect;
process.once('SIGTERM', () => process.exit());
const name = '@portkey-ai/gateway/build/start-server.js';
await import(name);

// With the installed @hono/node-server it fails on every stream, because it adds headers to an answer of `fetch`, whose headers
// are immutable. This patch gives it a copy of the headers.
const Lightweight = globalThis.Response;
globalThis.Response = class extends Lightweight {
  constructor(body?: ConstructorParameters<typeof Response>[0], init?: ResponseInit) {
    const copied = body instanceof ReadableStream && init?.headers instanceof Headers;
    super(body, copied ? { status: init.status ?? 200, headers: new Headers(init.headers) } : init);
  }
};
