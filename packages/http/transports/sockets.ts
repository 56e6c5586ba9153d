/** One WebSocket connection as a transport offers it. */
export type TransportSocket = {
  /** The transport queues bytes that the peer does not read. The caller must keep `queuedBytes` within its limit. */
  send(data: Uint8Array, binary: boolean): void;
  /** Bytes that are queued because the peer reads too slowly. */
  queuedBytes(): number;
  ping(): void;
  /**
   * Sends the close frame after the queued bytes. The transport cuts the connection when the peer does not close it
   * within 4 s.
   */
  end(code: number, reason: string): void;
  cut(): void;
};

/** A fault that the transport found in the frames of the peer. The connection has ended. */
export type FrameFault = 'too_large' | 'invalid_utf8' | 'protocol';

/** Events of one accepted connection. `closed` is called exactly once, also when the upgrade fails. */
export type SocketEvents = {
  opened(socket: TransportSocket): void;
  /** One whole message; fragments are joined. `data` is valid only during the call. */
  message(data: Buffer, binary: boolean): void;
  ping(): void;
  pong(): void;
  /** The queue is empty again. */
  drained(): void;
  /**
   * `code` is the code of the peer's close frame. It is 1005 for a close frame without code, and 1006 without a close
   * frame.
   */
  closed(code: number, fault: FrameFault | null): void;
};

/** An accepted handshake. */
export type Upgrade = {
  /** The subprotocol that the answer names. Empty when it names no subprotocol. */
  protocol: string;
  events: SocketEvents;
};

/** The channels of an application, as the transports see them. */
export type SocketServer = {
  /** `path` may contain parameters such as `:id`. `frameBytes` is the size of the largest message. */
  readonly channels: readonly { readonly path: string; readonly frameBytes: number }[];
  /** The path of the channel for a request path (without query), or null. */
  pathOf(path: string): string | null;
  /** Accepts or refuses a handshake for one of the channels. A Response is the refusal. The promise never rejects. */
  upgrade(request: Request): Promise<Upgrade | Response>;
  /** Refuses new sockets, closes the open ones with 1001, and waits for the handlers that are running. */
  close(deadlineMs: number): Promise<void>;
  openSockets(): number;
};

/** The time that a peer has to close the connection after the close frame. */
export const CLOSE_TIMEOUT_MS = 4_000;
/** The time that peers have at shutdown to read the close frame. After it their connections are cut. */
export const GOODBYE_MS = 500;
