import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog, openMetrics, type Runtime } from '@tradepost/runtime';
import { type ClientOptions, WebSocket } from 'ws';
import { createApp } from '../routing/app.ts';
import type { Caller } from '../routing/route.ts';
import type { Channel } from './define-channel.ts';

/** An application with these channels. A token is valid while it is a key of `callers`; a test adds and removes keys. */
export function openTestApp(channels: readonly Channel[]) {
  const callers = new Map<string, Caller>();
  const logged: { level: number; msg: string }[] = [];
  const runtime = {
    log: openLog({ level: 'warn', stream: { write: (line: string) => logged.push(JSON.parse(line)) } }),
    metrics: openMetrics(),
    settings: { get: ({ key }: { key: string }) => (key === 'shop.accept_language' ? true : 'en') },
    config: { trustedProxies: [], logRequests: 'none', publicDocs: true },
    isDatabaseAway: () => false,
  } as unknown as Runtime;
  const app = createApp({
    routes: [],
    resources: [],
    channels,
    authenticate: (token) => callers.get(token) ?? null,
    runtime,
  });
  const metric = async (name: string) =>
    (await runtime.metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
  return { app, callers, logged, metric, runtime };
}

export const caller = (id: number, changes: Partial<Caller> = {}): Caller => ({
  role: 'user',
  id,
  perms: [],
  jti: `jti-${id}`,
  expiresAt: Date.now() / 1000 + 3600,
  ...changes,
});

export const until = async (check: () => boolean, limitMs = 5000): Promise<void> => {
  const end = performance.now() + limitMs;
  while (!check()) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${check}`);
    await sleep(5);
  }
};

export type Refused = { status: number; body: { code: number; message: string; msg: string; data: null } };

/** A client with the library `ws`. It records the frames that arrived and how the socket ended. */
export class TestSocket {
  readonly ws: WebSocket;
  readonly frames: { data: Buffer; binary: boolean }[] = [];
  ended: { code: number; reason: string } | null = null;
  pings = 0;

  constructor(url: string, protocols: string[] = [], options: ClientOptions = {}) {
    this.ws = new WebSocket(url.replace(/^http/, 'ws'), protocols, options);
    this.ws.on('message', (data, binary) => this.frames.push({ data: data as Buffer, binary }));
    this.ws.on('ping', () => {
      this.pings += 1;
    });
    this.ws.on('error', () => {});
    this.ws.on('close', (code, reason) => {
      this.ended = { code, reason: reason.toString() };
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.ws.once('open', resolve).once('error', reject);
    });
    return this;
  }

  /** The HTTP answer to a refused handshake. */
  refused(): Promise<Refused> {
    return new Promise((resolve, reject) => {
      this.ws.once('open', () => reject(new Error('the handshake was accepted')));
      this.ws.once('unexpected-response', (_request, response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      });
    });
  }

  send(frame: unknown): void {
    this.ws.send(JSON.stringify(frame));
  }

  // biome-ignore lint/suspicious/noExplicitAny: frames of any channel
  json(): any[] {
    return this.frames.filter(({ binary }) => !binary).map(({ data }) => JSON.parse(data.toString()));
  }

  // biome-ignore lint/suspicious/noExplicitAny: a frame of any channel
  async next(count = this.frames.length + 1): Promise<any> {
    await until(() => this.frames.length >= count || this.ended !== null);
    const frame = this.frames[count - 1];
    if (!frame) throw new Error(`the socket ended: ${JSON.stringify(this.ended)}`);
    return frame.binary ? frame.data : JSON.parse(frame.data.toString());
  }

  async end(): Promise<{ code: number; reason: string }> {
    await until(() => this.ended !== null);
    return this.ended!;
  }
}

type FrameOptions = { opcode: number; final?: boolean };

/** One masked frame, as a client sends it. */
export function frameOf(payload: Uint8Array, { opcode, final = true }: FrameOptions): Buffer {
  const mask = randomBytes(4);
  const head = [(final ? 0x80 : 0) | opcode];
  if (payload.length < 126) head.push(0x80 | payload.length);
  else head.push(0x80 | 126, payload.length >> 8, payload.length & 0xff);
  const masked = payload.map((byte, i) => byte ^ mask[i % 4]!);
  return Buffer.concat([Buffer.from(head), mask, masked]);
}

/** A client on a raw TCP connection. It answers no ping, and reads only on request. */
export async function dialRaw(port: number, path: string): Promise<{ socket: Socket; received(): Buffer }> {
  const socket = connect(port, '127.0.0.1');
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: shop.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  await until(() => received.includes('\r\n\r\n'));
  return { socket, received: () => received };
}
