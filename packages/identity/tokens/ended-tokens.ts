import type { Sql } from '@tradepost/postgres';
import { type AccountRole, type Floor, selectFloorsSince, selectRevokedSince } from './token-store.ts';

/** Ids of shoppers and administrators overlap, so those of administrators are negated. */
const floorKey = (role: AccountRole, id: number) => (role === 'admin' ? -id : id);

/** The tokens that ended before their expiry, as this process knows them: revoked tokens, and floors of accounts. */
export class EndedTokens {
  readonly #control: Sql;
  /** From jti to the expiry of the token (Unix seconds). After its expiry the entry is deleted. */
  readonly #revoked = new Map<string, number>();
  readonly #floors = new Map<number, number>();
  #readFrom = new Date(0);

  constructor(control: Sql) {
    this.#control = control;
  }

  isRevoked(jti: string): boolean {
    return this.#revoked.has(jti);
  }

  revoke(jti: string, expiresAt: number): void {
    this.#revoked.set(jti, expiresAt);
  }

  /** The lowest generation of valid tokens of an account. */
  generationOf(role: AccountRole, id: number): number {
    return this.#floors.get(floorKey(role, id)) ?? 0;
  }

  raise({ role, account_id, generation }: Floor): void {
    // Notifications may arrive in another order than they were sent.
    if (generation > this.generationOf(role, account_id)) this.#floors.set(floorKey(role, account_id), generation);
  }

  /** Reads the tokens that have ended since the last call. */
  async read(now: Date): Promise<void> {
    // One minute is read twice, because transactions do not commit in the order of their timestamps.
    const since = new Date(this.#readFrom.getTime() - 60_000);
    const { at, revoked } = await selectRevokedSince(this.#control, since);
    for (const floor of await selectFloorsSince(this.#control, since)) this.raise(floor);
    this.#readFrom = at;
    for (const row of revoked) this.#revoked.set(row.jti, row.expires_at.getTime() / 1000);
    const seconds = now.getTime() / 1000;
    for (const [jti, expiresAt] of this.#revoked) if (expiresAt < seconds) this.#revoked.delete(jti);
  }
}
