import type { Locale } from '@tradepost/core';
import type { z } from 'zod';
import type { Auth, Caller } from '../routing/route.ts';
import { type ChannelLimits, limitsOf } from './channel-limits.ts';
import type { CloseReason } from './end-reasons.ts';
import { createHub, type Hub } from './hub.ts';

/**
 * Where a client puts its token.
 * header: `Authorization: Bearer <token>`; browsers cannot set it. query: `?token=<token>`. protocol: the client offers the
 * subprotocols `tradepost` and `bearer.<token>`, and the answer names `tradepost`. first_frame: the socket opens without a
 * token, and its first message is `{ "type": "auth", "token": "<token>" }`.
 */
export type TokenSource = 'header' | 'query' | 'protocol' | 'first_frame';

type CallerOf<A extends Auth> = A extends 'public' ? null : A extends 'optional' ? Caller | null : Caller;
type Parsed<S> = S extends z.ZodType ? z.output<S> : Record<string, never>;

export type ChannelContext<A extends Auth, P, Q> = {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly caller: CallerOf<A>;
  readonly locale: Locale;
  /** Of the client, by the rules of `clientAddress`. */
  readonly address: string;
  /** Of this socket, unique among processes. The log has it as the trace id. */
  readonly id: string;
};

/** An open socket, as the handlers of its channel use it. */
export type ChannelSocket<S> = {
  readonly id: string;
  readonly isOpen: boolean;
  /** Bytes that wait because the peer reads too slowly: a producer pauses while it is high and goes on at `drained`. */
  readonly queuedBytes: number;
  /** False when the frame was not sent: the socket is closed, or its queue is full. */
  send(frame: S): boolean;
  sendBinary(bytes: Uint8Array): boolean;
  /** 1000, or 4000 to 4999. The reason has at most 123 bytes. */
  close(code?: number, reason?: string): void;
  /** Adds the socket to a group of the channel's `hub`; it leaves all groups when it closes. */
  join(group: string): void;
  leave(group: string): void;
};

type Done = void | Promise<void>;

/**
 * The handlers of one socket; state lives in their closure. They run one after the other: the next begins when the promise of
 * the one before has settled. A refusal (AppError) that a handler throws is sent as an error frame and the socket stays open;
 * any other error is logged and sent as code 500.
 */
export type ChannelHandlers<R, S> = {
  /** An error here closes the socket. */
  open?(socket: ChannelSocket<S>): Done;
  message?(frame: R, socket: ChannelSocket<S>): Done;
  binary?(bytes: Buffer, socket: ChannelSocket<S>): Done;
  /** The peer has read everything that waited. */
  drained?(socket: ChannelSocket<S>): void;
  /** Called once for every `connect` that returned, also when the socket never opened. */
  close?(end: { readonly code: number; readonly reason: CloseReason }, socket: ChannelSocket<S>): Done;
};

export type ChannelDefinition<A extends Auth, P, Q, R extends z.ZodType, S extends z.ZodType> = {
  /** Names the channel in the AsyncAPI document. */
  name: string;
  /** `/ws/rooms/:id` */
  path: string;
  /** As for routes. The account of an open socket is verified again every `tokenCheckSeconds`. */
  auth: A;
  /** Code an administrator's token must carry. Only with auth "staff". */
  permission?: string;
  /** Default: header, query and protocol. */
  tokenFrom?: readonly TokenSource[];
  params?: P;
  query?: Q;
  /** JSON text frames of the client, usually a union over `type`. Parsed before `message` is called. */
  receives: R;
  /** JSON text frames of the server. Types, document and tests use it; frames are not parsed at run time. */
  sends: S;
  /** What the bytes of binary frames mean, by direction. Without `receives` a binary frame ends the socket with 1003. */
  binary?: { receives?: string; sends?: string };
  /** What becomes of a text frame that is not JSON or does not fit: an error frame (default), nothing, or close code 1008. */
  invalidFrames?: 'refuse' | 'ignore' | 'close';
  /** A frame that does not fit into `queuedBytes` ends the socket (default) or is dropped. */
  whenQueueFull?: 'close' | 'drop';
  limits?: Partial<ChannelLimits>;
  summary: string;
  description?: string;
  tag: string;
  /** Called for an authenticated client before its socket opens. A refusal that it throws answers the handshake. */
  connect(
    context: ChannelContext<A, P, Q>,
  ): ChannelHandlers<z.output<R>, z.input<S>> | Promise<ChannelHandlers<z.output<R>, z.input<S>>>;
};

type Untyped = ChannelDefinition<Auth, z.ZodType, z.ZodType, z.ZodType, z.ZodType>;
export type AnyHandlers = ChannelHandlers<unknown, unknown>;

/** A channel with its types put aside, as the socket server and the document see it. */
export type Channel = Omit<Untyped, 'connect' | 'limits' | 'tokenFrom' | 'invalidFrames' | 'whenQueueFull'> & {
  readonly limits: ChannelLimits;
  readonly tokenFrom: readonly TokenSource[];
  readonly invalidFrames: 'refuse' | 'ignore' | 'close';
  readonly whenQueueFull: 'close' | 'drop';
  connect(context: ChannelContext<Auth, z.ZodType, z.ZodType>): AnyHandlers | Promise<AnyHandlers>;
  readonly hub: Hub<never>;
};

/**
 * The one way a WebSocket endpoint comes into being: server, document and tests read the same object. Its `hub` sends to the
 * sockets of this process. Any origin may connect: no cookie authenticates a socket, so a foreign page has no token to use.
 * Frames are not compressed: each socket would hold some 300 KB of zlib windows, and small frames gain little.
 */
export function defineChannel<
  A extends Auth,
  R extends z.ZodType,
  S extends z.ZodType,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
>(definition: ChannelDefinition<A, P, Q, R, S>): Channel & { readonly hub: Hub<z.input<S>> } {
  const { name, path, auth, permission, tokenFrom = ['header', 'query', 'protocol'] } = definition;
  if (permission && auth !== 'staff') throw new Error(`channel ${path}: a permission needs auth "staff"`);
  if (!/^[a-z][A-Za-z\d]*$/.test(name)) throw new Error(`channel ${path}: the name must be in camel case`);
  if (auth !== 'public' && tokenFrom.length === 0) throw new Error(`channel ${path}: no way to pass a token`);
  if (auth === 'optional' && tokenFrom.includes('first_frame'))
    throw new Error(`channel ${path}: the first frame can only hold a token that the channel needs`);
  return {
    ...(definition as unknown as Untyped),
    tokenFrom: auth === 'public' ? [] : tokenFrom,
    invalidFrames: definition.invalidFrames ?? 'refuse',
    whenQueueFull: definition.whenQueueFull ?? 'close',
    limits: limitsOf(path, definition.limits),
    hub: createHub(),
  };
}
