import { isoInZone } from '@tradepost/core';
import { selectNicknames } from '@tradepost/identity';
import { type Runtime, timeZone } from '@tradepost/runtime';
import type { z } from 'zod';
import { statusOf } from './api-token.ts';
import type { TokenChange, TokenRow } from './api-token-store.ts';
import type { tokenChangeView, tokenView, userLimitsView } from './schemas.ts';
import { rateLimitSettings } from './settings.ts';
import type { UserLimits } from './user-limits-store.ts';

type Deps = Pick<Runtime, 'sql' | 'settings' | 'now'>;

/** What holds of a user: their own limits, else the defaults. */
function userInForce({ settings }: Pick<Deps, 'settings'>, { rpm_limit, tpm_limit }: UserLimits) {
  return {
    user_rpm: rpm_limit ?? settings.get(rateLimitSettings.user_default_rpm),
    user_tpm: tpm_limit ?? settings.get(rateLimitSettings.user_default_tpm),
  };
}

export const userLimitsViewOf = (deps: Deps, userId: number, limits: UserLimits): z.input<typeof userLimitsView> => ({
  user_id: userId,
  rpm_limit: limits.rpm_limit,
  tpm_limit: limits.tpm_limit,
  effective: userInForce(deps, limits),
});

/** With the names of their shoppers: one statement. */
export async function tokenViews(deps: Deps, rows: readonly TokenRow[]): Promise<z.input<typeof tokenView>[]> {
  const nicknames = await selectNicknames(deps.sql, [...new Set(rows.map((row) => row.user_id))]);
  const zone = deps.settings.get(timeZone);
  const at = (moment: Date | null) => moment && isoInZone(moment, zone);
  return rows.map((row) => {
    const user = userInForce(deps, { rpm_limit: row.user_rpm_limit, tpm_limit: row.user_tpm_limit });
    const { id, user_id, name, prefix, rpm_limit, tpm_limit } = row;
    return {
      ...{ id, user_id, nickname: nicknames.get(user_id) ?? '', name, prefix },
      status: statusOf(row, deps.now()),
      ...{ rpm_limit, tpm_limit },
      effective: { ...user, token_rpm: rpm_limit ?? user.user_rpm, token_tpm: tpm_limit ?? user.user_tpm },
      expires_at: at(row.expires_at),
      revoked_at: at(row.revoked_at),
      last_used_at: at(row.last_used_at),
      previous_until: row.previous_until && row.previous_until > deps.now() ? at(row.previous_until) : null,
      created_at: isoInZone(row.created_at, zone),
      updated_at: isoInZone(row.updated_at, zone),
    };
  });
}

export const tokenViewOf = async (deps: Deps, row: TokenRow) => (await tokenViews(deps, [row]))[0]!;

export function tokenChangeViewOf({ settings }: Deps, change: TokenChange): z.input<typeof tokenChangeView> {
  return { ...change, changed_at: isoInZone(change.changed_at, settings.get(timeZone)) };
}
