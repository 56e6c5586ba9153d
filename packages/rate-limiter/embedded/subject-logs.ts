import type { Admitted, Dimension, KeyRef, Limits, Subject, Tightest } from '../limits.ts';
import { admissionOf, type Exceeded, tighter } from '../verdict.ts';
import type { NameSpace, SlidingLogs } from './sliding-logs.ts';

const noSlot = -1;

/** Ids of users and of tokens share one table. */
const userId = (id: number) => id * 2;
const tokenId = (id: number) => id * 2 + 1;
const ips = 0;
const models = 1;

type Dimensions = { readonly rpm: Dimension; readonly tpm: Dimension | null };
const user: Dimensions = { rpm: 'user_rpm', tpm: 'user_tpm' };
const token: Dimensions = { rpm: 'token_rpm', tpm: 'token_tpm' };
const ip: Dimensions = { rpm: 'ip_rpm', tpm: null };
const model: Dimensions = { rpm: 'model_rpm', tpm: 'model_tpm' };

/** The slot of one log; -1 when no entry counts. */
export function slotOf(logs: SlidingLogs, { kind, key }: KeyRef, now: number): number {
  if (kind === 'user') return logs.findId(userId(Number(key)), now);
  if (kind === 'token') return logs.findId(tokenId(Number(key)), now);
  return logs.findName(kind === 'ip' ? ips : models, key, now);
}

/** Drops one log. Returns false when it did not exist. */
export function dropLog(logs: SlidingLogs, { kind, key }: KeyRef): boolean {
  if (kind === 'user') return logs.dropId(userId(Number(key)));
  if (kind === 'token') return logs.dropId(tokenId(Number(key)));
  return logs.dropName(kind === 'ip' ? ips : models, key);
}

/**
 * The logs that one request is counted in. `find` fills it, `exceeded` and `charge` use what was found. One object serves
 * all requests, as one check runs at a time.
 */
export class SubjectLogs {
  readonly #logs: SlidingLogs;
  /** Whether the request is counted by user, token, address or model. */
  #user = false;
  #token = false;
  #ip = false;
  #model = false;
  #userSlot = noSlot;
  #tokenSlot = noSlot;
  #ipSlot = noSlot;
  #modelSlot = noSlot;
  /** `SlidingLogs.freed` when the slots were found. The slots are valid while it is the same. */
  #freed = 0;
  /** The tightest dimensions of the charge that runs. */
  #tightestRequests: Tightest | null = null;
  #tightestTokens: Tightest | null = null;

  constructor(logs: SlidingLogs) {
    this.#logs = logs;
  }

  /** Finds the logs. Returns whether the request fits all of them. */
  find(subject: Subject, limits: Limits, tokens: number, now: number): boolean {
    const logs = this.#logs;
    let fitsAll = true;
    this.#user = subject.user !== null && (limits.user_rpm > 0 || limits.user_tpm > 0);
    if (this.#user) {
      this.#userSlot = logs.findId(userId(subject.user!), now);
      fitsAll = this.#fits(this.#userSlot, limits.user_rpm, limits.user_tpm, tokens);
    }
    this.#token = subject.token !== null && (limits.token_rpm > 0 || limits.token_tpm > 0);
    if (this.#token) {
      this.#tokenSlot = logs.findId(tokenId(subject.token!), now);
      fitsAll &&= this.#fits(this.#tokenSlot, limits.token_rpm, limits.token_tpm, tokens);
    }
    this.#ip = subject.ip !== null && limits.ip_rpm > 0;
    if (this.#ip) {
      this.#ipSlot = logs.findName(ips, subject.ip!, now);
      fitsAll &&= this.#fits(this.#ipSlot, limits.ip_rpm, 0, tokens);
    }
    this.#model = subject.model !== null && (limits.model_rpm > 0 || limits.model_tpm > 0);
    if (this.#model) {
      this.#modelSlot = logs.findName(models, subject.model!, now);
      fitsAll &&= this.#fits(this.#modelSlot, limits.model_rpm, limits.model_tpm, tokens);
    }
    this.#freed = logs.freed;
    return fitsAll;
  }

  /** The dimensions that the request exceeds, with their waits. */
  exceeded(limits: Limits, tokens: number, now: number): Exceeded[] {
    const exceeded: Exceeded[] = [];
    if (this.#user) this.#addExceeded(exceeded, this.#userSlot, user, limits, tokens, now);
    if (this.#token) this.#addExceeded(exceeded, this.#tokenSlot, token, limits, tokens, now);
    if (this.#ip) this.#addExceeded(exceeded, this.#ipSlot, ip, limits, tokens, now);
    if (this.#model) this.#addExceeded(exceeded, this.#modelSlot, model, limits, tokens, now);
    return exceeded;
  }

  /** Charges the request to all its logs. */
  charge(subject: Subject, limits: Limits, tokens: number, now: number): Admitted {
    this.#tightestRequests = null;
    this.#tightestTokens = null;
    if (this.#user) {
      const slot = this.#chargeId(this.#userSlot, userId(subject.user!), now, tokens);
      this.#compare(slot, now, user, limits.user_rpm, limits.user_tpm);
    }
    if (this.#token) {
      const slot = this.#chargeId(this.#tokenSlot, tokenId(subject.token!), now, tokens);
      this.#compare(slot, now, token, limits.token_rpm, limits.token_tpm);
    }
    if (this.#ip) {
      const slot = this.#chargeName(this.#ipSlot, ips, subject.ip!, now, tokens);
      this.#compare(slot, now, ip, limits.ip_rpm, 0);
    }
    if (this.#model) {
      const slot = this.#chargeName(this.#modelSlot, models, subject.model!, now, tokens);
      this.#compare(slot, now, model, limits.model_rpm, limits.model_tpm);
    }
    return admissionOf(this.#tightestRequests, this.#tightestTokens, now);
  }

  #fits(slot: number, rpm: number, tpm: number, tokens: number): boolean {
    if (slot === noSlot) return tpm === 0 || tokens <= tpm;
    const logs = this.#logs;
    return (rpm === 0 || logs.requests(slot) < rpm) && (tpm === 0 || logs.tokens(slot) + tokens <= tpm);
  }

  #addExceeded(to: Exceeded[], slot: number, of: Dimensions, limits: Limits, tokens: number, now: number): void {
    const logs = this.#logs;
    const { rpm, tpm } = of;
    const overRequests = limits[rpm] > 0 && slot !== noSlot ? logs.requests(slot) + 1 - limits[rpm] : 0;
    if (overRequests > 0) to.push({ dimension: rpm, waitMs: logs.leavesAfterRequests(slot, overRequests) - now });
    const most = tpm === null ? 0 : limits[tpm];
    const overTokens = most > 0 ? (slot === noSlot ? 0 : logs.tokens(slot)) + tokens - most : 0;
    if (overTokens > 0)
      to.push({ dimension: tpm!, waitMs: tokens > most ? null : logs.leavesAfterTokens(slot, overTokens) - now });
  }

  /** Charges a slot that `find` found, or the key when another charge has freed slots meanwhile. */
  #chargeId(slot: number, id: number, now: number, tokens: number): number {
    if (slot === noSlot || this.#logs.freed !== this.#freed) return this.#logs.chargeId(id, now, tokens);
    this.#logs.chargeSlot(slot, now, tokens);
    return slot;
  }

  #chargeName(slot: number, space: NameSpace, name: string, now: number, tokens: number): number {
    if (slot === noSlot || this.#logs.freed !== this.#freed) return this.#logs.chargeName(space, name, now, tokens);
    this.#logs.chargeSlot(slot, now, tokens);
    return slot;
  }

  #compare(slot: number, now: number, of: Dimensions, rpm: number, tpm: number): void {
    const resetMs = this.#logs.oldestLeaves(slot) - now;
    if (rpm > 0)
      this.#tightestRequests = tighter(this.#tightestRequests, of.rpm, rpm, this.#logs.requests(slot), resetMs);
    if (tpm > 0) this.#tightestTokens = tighter(this.#tightestTokens, of.tpm!, tpm, this.#logs.tokens(slot), resetMs);
  }
}
