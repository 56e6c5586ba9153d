import type { Locale } from '@tradepost/core';
import type { z } from 'zod';
import type { Auth, Caller } from '../routing/route.ts';
import { type ChannelLimits, limitsOf } from './channel-limits.ts';
import type { CloseReason } from './end-reasons.ts';
import { createHub, type Hub } from './hub.ts';

/**
 * The places where a client may put its token. header: `Authorization: Bearer <token>`; browsers cannot set it. query:
 * `?token=<token>`. protocol: the client offers the subprotocols `tradepost` and `bearer.<token>`, and the answer names
 * `tradepost`. first_frame: the socket opens without a token, and its first message is `{ "type": "auth", "token":
 * "<token>" }`.
 */
export type TokenSource = 'header' | 'query' | 'protocol' | 'first_frame';

type CallerOf<A extends Auth> = A extends 'public' ? null : A extends 'optional' ? Caller | null : Caller;
type Parsed<S> = S extends z.ZodType ? z.output<S> : Record<string, never>;

export type ChannelContext<A extends Auth, P, Q> = {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly caller: CallerOf<A>;
  readonly locale: Locale;
  /** The address of the client, as `clientAddress` determines it. */
  readonly address: string;
  /** Unique among processes. It is the trace id in the log. */
  readonly id: string;
};

/** An open socket, as the handlers of its channel see it. */
export type ChannelSocket<S> = {
  readonly id: string;
  readonly isOpen: boolean;
  /**
   * Bytes that are queued because the peer reads too slowly. A producer should pause while the number is high and
   * continue at `drained`.
   */
  readonly queuedBytes: number;
  /** Returns false when the frame was not sent, because the socket is closed or its queue is full. */
  send(frame: S): boolean;
  sendBinary(bytes: Uint8Array): boolean;
  /** `code` is 1000, or 4000 to 4999. The reason has at most 123 bytes. */
  close(code?: number, reason?: string): void;
  /** Adds the socket to a group of the channel's `hub`. It leaves all groups when it closes. */
  join(group: string): void;
  leave(group: string): void;
};

type Done = void | Promise<void>;

/**
 * The handlers of one socket. Their closure holds the state of the socket. They run one after the other: the next
 * begins when the promise of the previous one has settled. A refusal (AppError) that a handler throws is sent as an
 * error frame, and the socket stays open. Any other error is logged and sent as code 500.
 */
export type ChannelHandlers<R, S> = {
  /** An error closes the socket. */
  open?(socket: ChannelSocket<S>): Done;
  message?(frame: R, socket: ChannelSocket<S>): Done;
  binary?(bytes: Buffer, socket: ChannelSocket<S>): Done;
  /** The peer has read all queued bytes. */
  drained?(socket: ChannelSocket<S>): void;
  /** Called once for every `connect` that returned, also when the socket never opened. */
  close?(end: { readonly code: number; readonly reason: CloseReason }, socket: ChannelSocket<S>): Done;
};

export type ChannelDefinition<A extends Auth, P, Q, R extends z.ZodType, S extends z.ZodType> = {
  /** The name of the channel in the AsyncAPI document. */
  name: string;
  /** `/ws/rooms/:id` */
  path: string;
  /** The same values as for routes. The account of an open socket is verified again every `tokenCheckSeconds`. */
  auth: A;
  /** The permission code that an administrator's token must carry. Only with auth "staff". */
  permission?: string;
  /** Default: header, query and protocol. */
  tokenFrom?: readonly TokenSource[];
  params?: P;
  query?: Q;
  /**
   * The schema of text frames (JSON) of the client, usually a union over `type`. They are parsed before `message` is
   * called.
   */
  receives: R;
  /**
   * The schema of text frames (JSON) of the server. Types, document and tests use it. Frames are not parsed at run
   * time.
   */
  sends: S;
  /**
   * Describes the bytes of binary frames, by direction. Without `receives` a binary frame ends the socket with 1003.
   */
  binary?: { receives?: string; sends?: string };
  /**
   * The response to a text frame that is not JSON or does not fit: an error frame (default), nothing, or close code
   * 1008.
   */
  invalidFrames?: 'refuse' | 'ignore' | 'close';
  /** A frame that does not fit into `queuedBytes` ends the socket (default) or is dropped. */
  whenQueueFull?: 'close' | 'drop';
  limits?: Partial<ChannelLimits>;
  summary: string;
  description?: string;
  tag: string;
  /**
   * Called for an authenticated client before its socket opens. A refusal that it throws is the answer to the
   * handshake.
   */
  connect(
    context: ChannelContext<A, P, Q>,
  ): ChannelHandlers<z.output<R>, z.input<S>> | Promise<ChannelHandlers<z.output<R>, z.input<S>>>;
};

type Untyped = ChannelDefinition<Auth, z.ZodType, z.ZodType, z.ZodType, z.ZodType>;
export type AnyHandlers = ChannelHandlers<unknown, unknown>;

/** A channel without its type parameters, as the socket server and the document use it. */
export type Channel = Omit<Untyped, 'connect' | 'limits' | 'tokenFrom' | 'invalidFrames' | 'whenQueueFull'> & {
  readonly limits: ChannelLimits;
  readonly tokenFrom: readonly TokenSource[];
  readonly invalidFrames: 'refuse' | 'ignore' | 'close';
  readonly whenQueueFull: 'close' | 'drop';
  connect(context: ChannelContext<Auth, z.ZodType, z.ZodType>): AnyHandlers | Promise<AnyHandlers>;
  readonly hub: Hub<never>;
};

/**
 * Defines a WebSocket endpoint. Server, document and tests read the object that it returns. Its `hub` sends to the
 * sockets of this process. Any origin may connect: no cookie authenticates a socket, so a foreign page has no token to
 * use. Frames are not compressed: zlib would need some 300 KB per socket, and small frames gain little.
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
    throw new Error(`channel ${path}: a token in the first frame is only for channels that require a token`);
  return {
    ...(definition as unknown as Untyped),
    tokenFrom: auth === 'public' ? [] : tokenFrom,
    invalidFrames: definition.invalidFrames ?? 'refuse',
    whenQueueFull: definition.whenQueueFull ?? 'close',
    limits: limitsOf(path, definition.limits),
    hub: createHub(),
  };
}
