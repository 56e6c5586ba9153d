import { isoInZone } from '@tradepost/core';
import { selectNicknames } from '@tradepost/identity';
import { type Runtime, timeZone } from '@tradepost/runtime';
import type { z } from 'zod';
import type { UserLimits } from '../limits/user-limits-store.ts';
import { limitsOf, userLimitsOf } from '../proxy/rate-gate.ts';
import type { tokenChangeView, tokenView, userLimitsView } from '../schemas.ts';
import { statusOf } from './api-token.ts';
import { apiTokenOf, type TokenChange, type TokenRow } from './api-token-store.ts';

type Deps = Pick<Runtime, 'sql' | 'settings' | 'now'>;

export const userLimitsViewOf = (deps: Deps, userId: number, limits: UserLimits): z.input<typeof userLimitsView> => ({
  user_id: userId,
  rpm_limit: limits.rpm_limit,
  tpm_limit: limits.tpm_limit,
  effective: userLimitsOf(deps.settings, limits),
});

/** Views of tokens with the nicknames of their shoppers, read by one statement. */
export async function tokenViews(deps: Deps, rows: readonly TokenRow[]): Promise<z.input<typeof tokenView>[]> {
  const nicknames = await selectNicknames(deps.sql, [...new Set(rows.map((row) => row.user_id))]);
  const zone = deps.settings.get(timeZone);
  const at = (moment: Date | null) => moment && isoInZone(moment, zone);
  return rows.map((row) => {
    const { user_rpm, user_tpm, token_rpm, token_tpm } = limitsOf(deps.settings, apiTokenOf(row), null);
    const { id, user_id, name, prefix, rpm_limit, tpm_limit } = row;
    return {
      ...{ id, user_id, nickname: nicknames.get(user_id) ?? '', name, prefix },
      status: statusOf(row, deps.now()),
      ...{ rpm_limit, tpm_limit },
      effective: { user_rpm, user_tpm, token_rpm, token_tpm },
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
