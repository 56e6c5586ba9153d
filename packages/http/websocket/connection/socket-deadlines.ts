import type { ChannelLimits } from '../channel-limits.ts';
import type { EndReason } from '../end-reasons.ts';

/** The deadlines of one socket. Times are milliseconds of `performance.now()`. */
export class SocketDeadlines {
  readonly #limits: ChannelLimits;
  readonly #createdAt: number;
  /** When the last frame of any kind arrived. */
  #heardAt: number;
  /** When the last message arrived. */
  #messageAt: number;
  #pingedAt: number;

  constructor(limits: ChannelLimits, now: number) {
    this.#limits = limits;
    this.#createdAt = now;
    this.#heardAt = now;
    this.#messageAt = now;
    this.#pingedAt = now;
  }

  /** A control frame arrived. */
  heard(now: number): void {
    this.#heardAt = now;
  }

  messageArrived(now: number): void {
    this.#heardAt = now;
    this.#messageAt = now;
  }

  isHandshakeOverdue(now: number): boolean {
    return now - this.#createdAt >= this.#limits.handshakeSeconds * 1000;
  }

  /** The deadline that the peer of an open socket has missed, or null. */
  missed(now: number): Extract<EndReason, 'no_pong' | 'idle'> | null {
    const { pongSeconds, idleSeconds } = this.#limits;
    if (this.#pingedAt > this.#heardAt && now - this.#pingedAt >= pongSeconds * 1000) return 'no_pong';
    if (idleSeconds !== null && now - this.#messageAt >= idleSeconds * 1000) return 'idle';
    return null;
  }

  /** True when the next ping is due. The caller sends it. */
  takePing(now: number): boolean {
    if (this.#pingedAt > this.#heardAt || now - this.#pingedAt < this.#limits.pingSeconds * 1000) return false;
    this.#pingedAt = now;
    return true;
  }
}
