import { Socket } from 'node:net';

/** @portkey-ai/gateway as its `npm start` runs it, which knows no SIGTERM. It is held to this machine. */
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

// On the @hono/node-server that its package.json resolves to it fails every stream: it adds to the headers of what `fetch`
// has answered, which are immutable there. A copy of them is what it needs.
const Lightweight = globalThis.Response;
globalThis.Response = class extends Lightweight {
  constructor(body?: ConstructorParameters<typeof Response>[0], init?: ResponseInit) {
    const copied = body instanceof ReadableStream && init?.headers instanceof Headers;
    super(body, copied ? { status: init.status ?? 200, headers: new Headers(init.headers) } : init);
  }
};
