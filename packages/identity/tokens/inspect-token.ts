import { createSecretKey } from 'node:crypto';
import type { Runtime } from '@tradepost/runtime';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { selectShopper, selectStaff } from '../shoppers/identity-store.ts';
import { isRevoked, selectFloor, selectSigningKeys } from './token-store.ts';
import { tokenClaims } from './tokens.ts';

export type Inspected = {
  valid: boolean;
  /** Why the token is not valid; empty when it is. */
  reason: string;
  kid: string;
  account: { role: 'user' | 'admin'; id: number; name: string; status: number } | null;
  perms: readonly string[];
  jti: string;
  issued_at: string;
  expires_at: string;
};

const isoOf = (seconds: unknown) => (typeof seconds === 'number' ? new Date(seconds * 1000).toISOString() : '');

/** The content of a token, and whether this shop accepts it now. The result has no key and no signature. */
export async function inspectToken({ sql, now }: Pick<Runtime, 'sql' | 'now'>, token: string): Promise<Inspected> {
  const nothing = { kid: '', account: null, perms: [], jti: '', issued_at: '', expires_at: '' };
  const read = () => ({ header: decodeProtectedHeader(token), payload: decodeJwt(token) });
  let parts: ReturnType<typeof read>;
  try {
    parts = read();
  } catch {
    return { valid: false, reason: 'this is no JWT', ...nothing };
  }
  const { header, payload } = parts;
  const kid = header.kid ?? '';
  const parsed = tokenClaims.safeParse(payload);
  if (!parsed.success) return { valid: false, reason: 'its claims are not those of a login', ...nothing, kid };
  const { role, user_id: id, perms, jti, gen, iat, exp } = parsed.data;

  const row = role === 'user' ? await selectShopper(sql, id) : await selectStaff(sql, id);
  const name = row ? ('nickname' in row && (row.username ?? row.nickname)) || row.username || '' : '';
  const key = (await selectSigningKeys(sql)).find((candidate) => candidate.kid === kid);
  const signed = key
    ? await jwtVerify(token, createSecretKey(key.secret), { algorithms: ['HS256'], currentDate: new Date(iat * 1000) })
        .then(() => true)
        .catch(() => false)
    : false;
  const reason = !key
    ? 'signed with a key this shop does not have (any more)'
    : !signed
      ? 'the signature is wrong'
      : exp <= now().getTime() / 1000
        ? 'expired'
        : (await isRevoked(sql, jti))
          ? 'revoked (logged out)'
          : gen < (await selectFloor(sql, role, id))
            ? 'all tokens of the account were ended after it was issued'
            : '';
  return {
    ...{ valid: reason === '', reason, kid },
    account: row ? { role, id, name, status: row.status } : { role, id, name: '', status: 0 },
    ...{ perms, jti, issued_at: isoOf(iat), expires_at: isoOf(exp) },
  };
}
