import { activeShoppers, selectNicknames } from '@tradepost/identity';
import type { Runtime } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import { lockUserLimits, type UserLimits, updateUserLimits } from '../limits/user-limits-store.ts';
import { newSecret } from './api-token.ts';
import {
  insertToken,
  lockAndCountTokens,
  lockToken,
  replaceSecret,
  revokeTokens,
  selectToken,
  type TokenFields,
  type TokenRow,
  updateToken,
} from './api-token-store.ts';

/** What is undefined stays as it is; null inherits, or never expires. */
type TokenChanges = { [K in keyof TokenFields]?: TokenFields[K] | undefined };

/** `by`: who, for the trail (`admin:3`, `cli`). */
export type ChangeTokens = {
  /** The secret is told once and kept nowhere. */
  create(of: TokenChanges & { user_id: number }, by: string): Promise<{ row: TokenRow; secret: string }>;
  /** Refuses what is not there. */
  get(id: number): Promise<TokenRow>;
  update(id: number, changes: TokenChanges, by: string): Promise<TokenRow>;
  /** Whichever of them are there and not revoked yet; answers those. */
  revoke(ids: readonly number[], by: string): Promise<number[]>;
  /** Another secret for the same token; the one before it is good for `graceSeconds` more. */
  rotate(id: number, graceSeconds: number, by: string): Promise<{ row: TokenRow; secret: string }>;
  /** What is undefined stays as it is, null inherits the default. */
  setUserLimits(
    userId: number,
    limits: { [K in keyof UserLimits]?: UserLimits[K] | undefined },
    by: string,
  ): Promise<UserLimits>;
};

type Tell = (of: { tokens?: readonly number[]; users?: readonly number[] }) => Promise<void>;

/** Tokens of one shopper that are not revoked. */
const maxTokens = 1_000;
const fieldNames = ['name', 'rpm_limit', 'tpm_limit', 'expires_at'] as const;
const isSame = (a: unknown, b: unknown) => (a instanceof Date && b instanceof Date ? +a === +b : a === b);

/** The uses of `ApiTokens` that write; `tell` has what they changed forgotten on all instances. */
export function changeTokens(runtime: Pick<Runtime, 'sql' | 'now'>, tell: Tell): ChangeTokens {
  const { sql } = runtime;

  async function get(id: number): Promise<TokenRow> {
    const row = await selectToken(sql, id);
    if (!row) throw gatewayErrors.token_not_found({ id });
    return row;
  }
  const refusePassed = (field: string, at: Date | null) => {
    if (at && at <= runtime.now()) throw gatewayErrors.moment_passed({ field });
  };

  return {
    get,
    async create({ user_id, name = '', rpm_limit = null, tpm_limit = null, expires_at = null }, by) {
      refusePassed('expires_at', expires_at);
      if (!(await activeShoppers(sql, [user_id])).has(user_id))
        throw gatewayErrors.token_user_not_found({ id: user_id });
      const made = newSecret();
      const id = await sql.begin(async (tx) => {
        if ((await lockAndCountTokens(tx, user_id)) >= maxTokens)
          throw gatewayErrors.too_many_tokens({ max: maxTokens });
        return insertToken(tx, { user_id, name, rpm_limit, tpm_limit, expires_at }, made, by);
      });
      return { row: await get(id), secret: made.secret };
    },
    async update(id, changes, by) {
      const isChanged = await sql.begin(async (tx) => {
        const before = await lockToken(tx, id);
        if (!before) throw gatewayErrors.token_not_found({ id });
        if (before.revoked_at) throw gatewayErrors.token_revoked({ id });
        const differs = fieldNames.filter(
          (name) => changes[name] !== undefined && !isSame(changes[name], before[name]),
        );
        if (differs.length === 0) return false;
        if (differs.includes('expires_at')) refusePassed('expires_at', changes.expires_at ?? null);
        const given = Object.fromEntries(differs.map((name) => [name, changes[name]]));
        const after: TokenFields = { ...before, ...given };
        const pick = (of: TokenFields) => Object.fromEntries(differs.map((name) => [name, of[name]]));
        await updateToken(tx, id, after, { before: pick(before), after: pick(after) }, by);
        return true;
      });
      if (isChanged) await tell({ tokens: [id] });
      return get(id);
    },
    async revoke(ids, by) {
      const ended = await revokeTokens(sql, ids, by);
      // Also those that had ended before: the news of it may have been lost.
      await tell({ tokens: ids });
      return ended;
    },
    async rotate(id, graceSeconds, by) {
      const made = newSecret();
      await sql.begin(async (tx) => {
        const before = await lockToken(tx, id);
        if (!before) throw gatewayErrors.token_not_found({ id });
        if (before.revoked_at) throw gatewayErrors.token_revoked({ id });
        if (before.expires_at && before.expires_at <= runtime.now()) throw gatewayErrors.token_expired({ id });
        await replaceSecret(tx, id, made, graceSeconds, by);
      });
      await tell({ tokens: [id] });
      return { row: await get(id), secret: made.secret };
    },
    async setUserLimits(userId, limits, by) {
      if (!(await selectNicknames(sql, [userId])).has(userId)) throw gatewayErrors.user_not_found({ id: userId });
      const { after, isChanged } = await sql.begin(async (tx) => {
        const before = await lockUserLimits(tx, userId);
        const given = Object.entries(limits).filter(([, value]) => value !== undefined);
        const wanted: UserLimits = { ...before, ...Object.fromEntries(given) };
        if (wanted.rpm_limit === before.rpm_limit && wanted.tpm_limit === before.tpm_limit)
          return { after: before, isChanged: false };
        await updateUserLimits(tx, userId, wanted, before, by);
        return { after: wanted, isChanged: true };
      });
      if (isChanged) await tell({ users: [userId] });
      return after;
    },
  };
}
