import { activeShoppers, selectNicknames } from '@tradepost/identity';
import { actingSql, type ChangeActor } from '@tradepost/postgres';
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
import type { Changed } from './token-changes.ts';

/** An undefined field stays unchanged. null inherits a limit, or removes the expiry. */
type TokenChanges = { [K in keyof TokenFields]?: TokenFields[K] | undefined };

/** The operations that change tokens. `by` names the author in the trail (`admin:3`, `cli`), `actor` in the change log. */
export type ChangeTokens = {
  /** The secret is returned once and not stored. */
  create(
    fields: TokenChanges & { user_id: number },
    by: string,
    actor?: ChangeActor | null,
  ): Promise<{ row: TokenRow; secret: string }>;
  /** Refuses an unknown id. */
  get(id: number): Promise<TokenRow>;
  update(id: number, changes: TokenChanges, by: string, actor?: ChangeActor | null): Promise<TokenRow>;
  /** Revokes the tokens that exist and are not revoked yet. Returns their ids. */
  revoke(ids: readonly number[], by: string, actor?: ChangeActor | null): Promise<number[]>;
  /** Replaces the secret. The previous one stays valid for `graceSeconds`. */
  rotate(
    id: number,
    graceSeconds: number,
    by: string,
    actor?: ChangeActor | null,
  ): Promise<{ row: TokenRow; secret: string }>;
  /** An undefined limit stays unchanged, null inherits the default. */
  setUserLimits(
    userId: number,
    limits: { [K in keyof UserLimits]?: UserLimits[K] | undefined },
    by: string,
    actor?: ChangeActor | null,
  ): Promise<UserLimits>;
};

/** Invalidates changed tokens on all instances. */
type Notify = (changed: Changed) => Promise<void>;

/** Largest number of tokens of one shopper that are not revoked. */
const maxTokens = 1_000;
const fieldNames = ['name', 'rpm_limit', 'tpm_limit', 'expires_at'] as const;
const isSame = (a: unknown, b: unknown) => (a instanceof Date && b instanceof Date ? +a === +b : a === b);

/** The operations of `ApiTokens` that write. */
export function changeTokens(runtime: Pick<Runtime, 'sql' | 'now'>, notify: Notify): ChangeTokens {
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
    async create({ user_id, name = '', rpm_limit = null, tpm_limit = null, expires_at = null }, by, actor) {
      refusePassed('expires_at', expires_at);
      if (!(await activeShoppers(sql, [user_id])).has(user_id))
        throw gatewayErrors.token_user_not_found({ id: user_id });
      const created = newSecret();
      const id = await actingSql(sql, actor).begin(async (tx) => {
        if ((await lockAndCountTokens(tx, user_id)) >= maxTokens)
          throw gatewayErrors.too_many_tokens({ max: maxTokens });
        return insertToken(tx, { user_id, name, rpm_limit, tpm_limit, expires_at }, created, by);
      });
      return { row: await get(id), secret: created.secret };
    },
    async update(id, changes, by, actor) {
      const isChanged = await actingSql(sql, actor).begin(async (tx) => {
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
      if (isChanged) await notify({ tokens: [id] });
      return get(id);
    },
    async revoke(ids, by, actor) {
      const revoked = await actingSql(sql, actor).begin((tx) => revokeTokens(tx, ids, by));
      // Notifies of all given ids, because the notification of an earlier revocation may have been lost.
      await notify({ tokens: ids });
      return revoked;
    },
    async rotate(id, graceSeconds, by, actor) {
      const created = newSecret();
      await actingSql(sql, actor).begin(async (tx) => {
        const before = await lockToken(tx, id);
        if (!before) throw gatewayErrors.token_not_found({ id });
        if (before.revoked_at) throw gatewayErrors.token_revoked({ id });
        if (before.expires_at && before.expires_at <= runtime.now()) throw gatewayErrors.token_expired({ id });
        await replaceSecret(tx, id, created, graceSeconds, by);
      });
      await notify({ tokens: [id] });
      return { row: await get(id), secret: created.secret };
    },
    async setUserLimits(userId, limits, by, actor) {
      if (!(await selectNicknames(sql, [userId])).has(userId)) throw gatewayErrors.user_not_found({ id: userId });
      const { after, isChanged } = await actingSql(sql, actor).begin(async (tx) => {
        const before = await lockUserLimits(tx, userId);
        const given = Object.entries(limits).filter(([, value]) => value !== undefined);
        const requested: UserLimits = { ...before, ...Object.fromEntries(given) };
        if (requested.rpm_limit === before.rpm_limit && requested.tpm_limit === before.tpm_limit)
          return { after: before, isChanged: false };
        await updateUserLimits(tx, userId, requested, before, by);
        return { after: requested, isChanged: true };
      });
      if (isChanged) await notify({ users: [userId] });
      return after;
    },
  };
}
