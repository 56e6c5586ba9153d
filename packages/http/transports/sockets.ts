/** One WebSocket connection as a transport offers it. */
export type TransportSocket = {
  /** A transport queues whatever the peer does not read: the caller keeps `queuedBytes` in bounds. */
  send(data: Uint8Array, binary: boolean): void;
  /** Bytes that wait because the peer reads too slowly. */
  queuedBytes(): number;
  ping(): void;
  /** Sends the close frame behind what is queued. The transport cuts the connection when the peer does not close it within 4 s. */
  end(code: number, reason: string): void;
  cut(): void;
};

/** A fault that the transport found in the frames of the peer. The connection has ended. */
export type FrameFault = 'too_large' | 'invalid_utf8' | 'protocol';

/** What a transport reports of one accepted connection. `closed` is called once, also when the upgrade did not come about. */
export type SocketEvents = {
  opened(socket: TransportSocket): void;
  /** One whole message; fragments are joined. `data` may be read only during the call. */
  message(data: Buffer, binary: boolean): void;
  ping(): void;
  pong(): void;
  /** The queue is empty again. */
  drained(): void;
  /** `code` of the peer's close frame; 1005 without a code, 1006 without a close frame. */
  closed(code: number, fault: FrameFault | null): void;
};

/** An accepted handshake. */
export type Upgrade = {
  /** The subprotocol that the answer names; empty for none. */
  protocol: string;
  events: SocketEvents;
};

/** The channels of an application, as the transports see them. */
export type SocketServer = {
  /** `path` may have parts such as `:id`. `frameBytes` is the largest message. */
  readonly channels: readonly { readonly path: string; readonly frameBytes: number }[];
  /** The path of the channel that a request path (without query) belongs to, or null. */
  pathOf(path: string): string | null;
  /** Decides on a handshake for one of the channels. A Response is its refusal. Never rejects. */
  upgrade(request: Request): Promise<Upgrade | Response>;
  /** Refuses new sockets, closes the open ones with 1001 and waits for the handlers that run. */
  close(deadlineMs: number): Promise<void>;
  openSockets(): number;
};

/** How long a transport waits for a peer to close after the close frame. */
export const CLOSE_TIMEOUT_MS = 4_000;
/** At shutdown, how long peers have to read the close frame before their connections are cut. */
export const GOODBYE_MS = 500;
