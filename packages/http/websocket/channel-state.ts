import type { Locale } from '@tradepost/core';
import type { Log } from '@tradepost/runtime';
import type { Authenticate } from '../routing/guard.ts';
import type { Channel } from './define-channel.ts';
import type { CloseReason, EndReason } from './end-reasons.ts';
import type { Slots } from './slots.ts';

/** A connection as its channel drives it. */
type OpenConnection = {
  end(reason: EndReason): void;
  /** Checks the deadlines of the connection; `now` in milliseconds of `performance.now()`. */
  tick(now: number): void;
};

/** The connections of one channel in this process. */
export type ChannelState = {
  readonly channel: Channel;
  readonly slots: Slots;
  readonly connections: Set<OpenConnection>;
  readonly frames: { in: number; out: number; dropped: number };
  countClose(code: number, reason: CloseReason): void;
  /** Counts the handlers that are running. */
  readonly running: { began(): void; ended(): void };
};

/** What a socket brought when it was opened. */
export type Handshake = {
  readonly id: string;
  readonly token: string | null;
  readonly locale: Locale;
  readonly address: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly authenticate: Authenticate;
  readonly log: Log;
};
