import { AppError } from '@tradepost/core';
import type { Log } from '@tradepost/runtime';
import { type Authenticate, admit } from '../../routing/guard.ts';
import type { Caller } from '../../routing/route.ts';
import type { Channel } from '../define-channel.ts';

type Deps = {
  readonly channel: Channel;
  readonly authenticate: Authenticate;
  readonly log: Log;
  readonly socketId: string;
};

/** The token of a socket, and the account that it belongs to. */
export class SocketLogin {
  token: string | null;
  #caller: Caller | null = null;
  #deps: Deps;
  /** When the token is verified next, in milliseconds of `performance.now()`. */
  #checkAt: number;

  constructor(deps: Deps, token: string | null, now: number) {
    this.#deps = deps;
    this.token = token;
    this.#checkAt = now + this.#checkMs;
  }

  get #checkMs(): number {
    return this.#deps.channel.limits.tokenCheckSeconds * 1000;
  }

  /** The account of the token. Throws the refusal. */
  async verify(): Promise<Caller | null> {
    const { channel, authenticate } = this.#deps;
    return admit(channel, this.token, this.token === null ? null : await authenticate(this.token));
  }

  /** Sets the account that the checks concern. Until then the socket has no login, and nothing is checked. */
  begin(caller: Caller | null): void {
    this.#caller = caller;
  }

  isExpired(): boolean {
    return this.#caller !== null && Date.now() >= this.#caller.expiresAt * 1000;
  }

  isCheckDue(now: number): boolean {
    return this.#caller !== null && now >= this.#checkAt;
  }

  /** Verifies the token again. True also when the database fails: the next check is after the next interval. */
  async isStillValid(): Promise<boolean> {
    this.#checkAt = Number.POSITIVE_INFINITY;
    try {
      const caller = await this.verify();
      if (caller) this.#caller = caller;
      return caller !== null;
    } catch (error) {
      if (error instanceof AppError && (error.code === 401 || error.code === 403)) return false;
      const { log, socketId } = this.#deps;
      log.warn({ err: error, trace: socketId }, 'the token of a socket could not be verified');
      return true;
    } finally {
      this.#checkAt = performance.now() + this.#checkMs;
    }
  }
}
