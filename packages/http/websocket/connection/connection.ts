import { AppError } from '@tradepost/core';
import { httpErrors } from '../../routing/errors.ts';
import { refusalOf } from '../../routing/refusal-of.ts';
import type { FrameFault, SocketEvents, TransportSocket } from '../../transports/sockets.ts';
import { parseOrRefuse } from '../../validation/validate.ts';
import type { ChannelState, Handshake } from '../channel-state.ts';
import type { AnyHandlers, ChannelSocket } from '../define-channel.ts';
import { type CloseReason, type EndReason, endReasons } from '../end-reasons.ts';
import { tokenOfFrame } from '../handshake.ts';
import { encodeFrame, type Member, membersOf } from '../hub.ts';
import { FrameRate } from './frame-rate.ts';
import { InOrder } from './in-order.ts';
import { SocketDeadlines } from './socket-deadlines.ts';
import { SocketLogin } from './socket-login.ts';

const reasonOfFault: Record<FrameFault, EndReason> = {
  too_large: 'frame_too_large',
  invalid_utf8: 'invalid_utf8',
  protocol: 'protocol',
};
/** The connection is cut, because a close frame would not reach the peer. */
const cutReasons: ReadonlySet<string> = new Set<EndReason>(['slow_reader', 'no_pong']);
const maxReasonBytes = 123;

/** One WebSocket of a channel. The transport reports events to it; handlers and the hub send through it. */
export class Connection implements SocketEvents, ChannelSocket<unknown>, Member {
  readonly id: string;
  #state: ChannelState;
  #handshake: Handshake;
  #login: SocketLogin;
  #socket: TransportSocket | null = null;
  #handlers: AnyHandlers | null = null;
  #loggingIn = false;
  #ended: { code: number; reason: CloseReason; text: string } | null = null;
  #releases: (() => void)[] = [];
  #groups: Set<string> | null = null;
  #queue: InOrder;
  #deadlines: SocketDeadlines;
  #rate: FrameRate;

  /** Takes a slot of the channel and of the address. Throws the refusal when no slot is free. */
  constructor(state: ChannelState, handshake: Handshake) {
    this.id = handshake.id;
    this.#state = state;
    this.#handshake = handshake;
    this.#queue = new InOrder(state.running);
    const { limits } = state.channel;
    const now = performance.now();
    this.#deadlines = new SocketDeadlines(limits, now);
    this.#rate = new FrameRate(limits.framesPerSecond, now);
    const { authenticate, log, id, token } = handshake;
    this.#login = new SocketLogin({ channel: state.channel, authenticate, log, socketId: id }, token, now);
    this.#releases.push(state.slots.take(handshake.address));
    state.connections.add(this);
  }

  /** Verifies the token and calls `connect`. Throws the refusal. Does nothing when the first frame may bring the token. */
  async prepare(): Promise<void> {
    const { channel } = this.#state;
    if (this.#login.token === null && channel.tokenFrom.includes('first_frame')) return;
    await this.#connect();
  }

  async #connect(): Promise<void> {
    const { channel, slots } = this.#state;
    const { params, query, locale, address, id } = this.#handshake;
    const caller = await this.#login.verify();
    if (this.#ended) return;
    this.#login.begin(caller);
    if (caller) this.#releases.push(slots.takeForAccount(`${caller.role} ${caller.id}`));
    const handlers = await channel.connect({ params, query, caller, locale, address, id } as never);
    this.#handlers = handlers;
    if (this.#ended) this.#callClose(handlers, this.#ended);
  }

  // Events of the transport.

  opened(socket: TransportSocket): void {
    this.#socket = socket;
    if (this.#ended) socket.end(this.#ended.code, this.#ended.text);
    else if (this.#handlers) this.#queue.add(() => this.#handlers?.open?.(this), this.#openFailed);
  }

  message(data: Buffer, binary: boolean): void {
    if (this.#ended) return;
    const { limits, binary: binaryFrames } = this.#state.channel;
    const now = performance.now();
    this.#deadlines.messageArrived(now);
    this.#state.frames.in += 1;
    if (data.length > limits.frameBytes) this.end('frame_too_large');
    else if (!this.#rate.admit(now)) this.end('too_many_frames');
    else if (!binary) this.#text(data.toString('utf8'));
    else if (!binaryFrames?.receives) this.end('binary_not_taken');
    else if (!this.#handlers && !this.#loggingIn) this.end('not_logged_in');
    else {
      const bytes = Buffer.from(data);
      this.#handle(() => this.#handlers?.binary?.(bytes, this));
    }
  }

  ping(): void {
    const now = performance.now();
    this.#deadlines.heard(now);
    if (!this.#ended && !this.#rate.admit(now)) this.end('too_many_frames');
  }

  pong(): void {
    this.#deadlines.heard(performance.now());
  }

  drained(): void {
    if (this.#ended) return;
    try {
      this.#handlers?.drained?.(this);
    } catch (error) {
      this.#failed(error);
    }
  }

  closed(code: number, fault: FrameFault | null): void {
    this.#finish(
      fault ? endReasons[reasonOfFault[fault]].code : code,
      fault ? reasonOfFault[fault] : code === 1006 ? 'lost' : 'client',
      false,
    );
    this.#socket = null;
  }

  // For handlers and the hub.

  get isOpen(): boolean {
    return this.#ended === null && this.#socket !== null;
  }

  get queuedBytes(): number {
    return this.isOpen ? this.#socket!.queuedBytes() : 0;
  }

  send(frame: unknown): boolean {
    return this.isOpen && this.sendEncoded(encodeFrame(frame), false);
  }

  sendBinary(bytes: Uint8Array): boolean {
    return this.isOpen && this.sendEncoded(Buffer.from(bytes), true);
  }

  sendEncoded(bytes: Buffer, binary: boolean): boolean {
    if (!this.isOpen) return false;
    const { channel, frames } = this.#state;
    if (this.#socket!.queuedBytes() + bytes.length > channel.limits.queuedBytes) {
      frames.dropped += 1;
      if (channel.whenQueueFull === 'close') this.end('slow_reader');
      return false;
    }
    this.#socket!.send(bytes, binary);
    frames.out += 1;
    return true;
  }

  close(code = 1000, reason = ''): void {
    if (code !== 1000 && !(code >= 4000 && code <= 4999)) throw new RangeError(`a channel cannot close with ${code}`);
    if (Buffer.byteLength(reason) > maxReasonBytes) throw new RangeError('the reason of a close frame is too long');
    this.#finish(code, 'channel', true, reason);
  }

  join(group: string): void {
    if (this.#ended) return;
    this.#groups ??= new Set();
    this.#groups.add(group);
    membersOf(this.#state.channel.hub).join(group, this);
  }

  leave(group: string): void {
    if (this.#groups?.delete(group)) membersOf(this.#state.channel.hub).leave(group, this);
  }

  // For the socket server.

  end(reason: EndReason): void {
    this.#finish(endReasons[reason].code, reason, true, reason);
  }

  /** Checks the deadlines of this socket. It is called about once a second. */
  tick(now: number): void {
    if (this.#ended) return;
    const missed = this.#deadlines.missed(now);
    if (!this.#handlers && this.#deadlines.isHandshakeOverdue(now)) this.end('handshake_timeout');
    else if (!this.#socket) return;
    else if (missed) this.end(missed);
    else if (this.#login.isExpired()) this.end('token_invalid');
    else {
      if (this.#deadlines.takePing(now)) this.#socket.ping();
      if (this.#login.isCheckDue(now)) void this.#checkToken();
    }
  }

  async #checkToken(): Promise<void> {
    if (!(await this.#login.isStillValid())) this.end('token_invalid');
  }

  #text(text: string): void {
    const { channel } = this.#state;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#invalid(httpErrors.invalid_json_frame());
      return;
    }
    if (!this.#handlers && !this.#loggingIn) {
      this.#logIn(value);
      return;
    }
    let frame: unknown;
    try {
      frame = parseOrRefuse(channel.receives, value, this.#handshake.locale, 'frame');
    } catch (error) {
      this.#invalid(error);
      return;
    }
    this.#handle(() => this.#handlers?.message?.(frame, this));
  }

  #logIn(value: unknown): void {
    this.#login.token = tokenOfFrame(value);
    if (this.#login.token === null) {
      this.end('not_logged_in');
      return;
    }
    this.#loggingIn = true;
    const work = async () => {
      await this.#connect();
      if (!this.#ended) await this.#handlers?.open?.(this);
    };
    this.#queue.add(work, this.#openFailed);
  }

  #handle(job: () => void | Promise<void>): void {
    if (this.#queue.waiting >= this.#state.channel.limits.waitingFrames) this.end('too_many_frames');
    else this.#queue.add(job, this.#failed);
  }

  #invalid(error: unknown): void {
    const { invalidFrames } = this.#state.channel;
    if (!this.#handlers && !this.#loggingIn) this.end('not_logged_in');
    else if (invalidFrames === 'close') this.end('invalid_frame');
    else if (invalidFrames === 'refuse') this.#sendRefusal(error);
  }

  /** Sends the error frame. It has the fields of the envelope. */
  #sendRefusal(error: unknown): AppError {
    const { locale, log } = this.#handshake;
    const refusal = refusalOf(error, this.id, log, `channel ${this.#state.channel.path}`);
    const message = refusal.messageIn(locale);
    this.send({ type: 'error', code: refusal.code, message, msg: message });
    return refusal;
  }

  #failed = (error: unknown): void => {
    this.#sendRefusal(error);
  };

  #openFailed = (error: unknown): void => {
    const { code } = this.#sendRefusal(error);
    this.end(code === 401 ? 'not_logged_in' : error instanceof AppError ? 'refused' : 'internal');
  };

  #finish(code: number, reason: CloseReason, byServer: boolean, text = ''): void {
    if (this.#ended) return;
    this.#ended = { code, reason, text };
    const state = this.#state;
    state.connections.delete(this);
    for (const release of this.#releases) release();
    for (const group of this.#groups ?? []) membersOf(state.channel.hub).leave(group, this);
    this.#queue.clear();
    if (this.#socket) {
      state.countClose(code, reason);
      if (byServer && cutReasons.has(reason)) this.#socket.cut();
      else if (byServer) this.#socket.end(code, text);
    }
    if (this.#handlers) this.#callClose(this.#handlers, this.#ended);
  }

  /** Calls the `close` handler after the handler that is running. */
  #callClose(handlers: AnyHandlers, { code, reason }: { code: number; reason: CloseReason }): void {
    this.#queue.add(
      () => handlers.close?.({ code, reason }, this),
      (error) => {
        refusalOf(error, this.id, this.#handshake.log, `channel ${this.#state.channel.path}`);
      },
    );
  }
}
