/** The limits of one channel. Each has a default; a channel states only those that differ. */
export type ChannelLimits = {
  /** Bytes of one message, all fragments together. A larger message ends the socket with 1009. */
  readonly frameBytes: number;
  /** Messages and pings per second, on average. As many may arrive at once. More end the socket with 1008. */
  readonly framesPerSecond: number;
  /** Messages that are queued while the handler works on an earlier one. More end the socket with 1008. */
  readonly waitingFrames: number;
  /** Bytes that are queued because the peer reads too slowly. `whenQueueFull` decides about the next frame. */
  readonly queuedBytes: number;
  /** Open sockets of one account, of one address (IPv6: of one /64 network), and of the channel, in this process. */
  readonly socketsPerAccount: number;
  readonly socketsPerAddress: number;
  readonly sockets: number;
  /** Seconds between two pings of the server. A peer that sends no frame for `pongSeconds` after a ping is cut. */
  readonly pingSeconds: number;
  readonly pongSeconds: number;
  /** A socket without a message for this long is closed. Null means never. Pings do not count. */
  readonly idleSeconds: number | null;
  /** The time for authentication, including the first frame. */
  readonly handshakeSeconds: number;
  /** Seconds between two verifications of the token of an open socket. Its expiry is detected within a second. */
  readonly tokenCheckSeconds: number;
};

const defaults: ChannelLimits = {
  frameBytes: 16 * 1024,
  framesPerSecond: 50,
  waitingFrames: 32,
  queuedBytes: 256 * 1024,
  socketsPerAccount: 10,
  socketsPerAddress: 100,
  sockets: 10_000,
  pingSeconds: 30,
  pongSeconds: 10,
  idleSeconds: null,
  handshakeSeconds: 10,
  tokenCheckSeconds: 30,
};

/** Throws for a limit that is not a positive number. Every channel must be limited. */
export function limitsOf(path: string, given: Partial<ChannelLimits> = {}): ChannelLimits {
  const limits = { ...defaults, ...given };
  for (const [name, value] of Object.entries(limits))
    if (!(name === 'idleSeconds' && value === null) && !(Number.isFinite(value) && Number(value) > 0))
      throw new Error(`channel ${path}: ${name} must be a positive number`);
  return limits;
}
