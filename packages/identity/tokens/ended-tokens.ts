import type { Sql } from '@tradepost/postgres';
import { type AccountRole, type Floor, selectFloorsSince, selectRevokedSince } from './token-store.ts';

/** Ids of the two kinds overlap. */
const floorKey = (role: AccountRole, id: number) => (role === 'admin' ? -id : id);

/** Tokens that ended before their time, as this process knows them: single ones, and all of an account before a generation. */
export class EndedTokens {
  readonly #control: Sql;
  /** jti to the end of the token's life (Unix seconds), after which it is not needed. */
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

  /** The generation from which tokens of an account are good. */
  generationOf(role: AccountRole, id: number): number {
    return this.#floors.get(floorKey(role, id)) ?? 0;
  }

  raise({ role, account_id, generation }: Floor): void {
    // Messages may overtake each other.
    if (generation > this.generationOf(role, account_id)) this.#floors.set(floorKey(role, account_id), generation);
  }

  /** Reads what has ended since the last call. */
  async read(now: Date): Promise<void> {
    // A minute of overlap: transactions do not end in the order of their timestamps.
    const since = new Date(this.#readFrom.getTime() - 60_000);
    const { at, revoked } = await selectRevokedSince(this.#control, since);
    for (const floor of await selectFloorsSince(this.#control, since)) this.raise(floor);
    this.#readFrom = at;
    for (const row of revoked) this.#revoked.set(row.jti, row.expires_at.getTime() / 1000);
    const seconds = now.getTime() / 1000;
    for (const [jti, expiresAt] of this.#revoked) if (expiresAt < seconds) this.#revoked.delete(jti);
  }
}
