import type { AppError } from '@tradepost/core';
import type { Runtime } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import { selectShopperByLogin, selectStaffByLogin } from '../shoppers/identity-store.ts';
import { passwordFits } from '../shoppers/passwords.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { LoginLimits } from './attempt-limits.ts';

export type LoginDeps = { runtime: Pick<Runtime, 'sql' | 'config'>; tokens: Tokens; limits: LoginLimits };
export type Credentials = { username: string; password: string; address: string };
type Account = { password_hash: string | null; status: number; is_demo: boolean };

/** Returns the account when the password is right, else null. Throws a refusal when the account is disabled. */
async function checkPassword<A extends Account>(
  { runtime }: LoginDeps,
  account: A | undefined,
  password: string,
): Promise<A | null> {
  const fits = await passwordFits(account?.password_hash, password);
  if (!fits || !account || (account.is_demo && runtime.config.production)) return null;
  if (account.status !== 1) throw identityErrors.account_disabled();
  return account;
}

const isGuess = (refusal: AppError) => refusal.refusalName === 'invalid_login';

async function administratorToken(deps: LoginDeps, { username, password }: Credentials): Promise<string> {
  const staff = await checkPassword(deps, await selectStaffByLogin(deps.runtime.sql, username), password);
  if (!staff) throw identityErrors.invalid_login();
  const { id, permissions: perms, generation } = staff;
  return deps.tokens.issue({ role: 'admin', id, perms, generation });
}

/** Back-office login: returns a token of an administrator. A wrong name and a wrong password get the same refusal. */
export async function loginAdministrator(deps: LoginDeps, given: Credentials): Promise<string> {
  return deps.limits({ account: given.username, address: given.address, isGuess }, () =>
    administratorToken(deps, given),
  );
}

/** Login of both kinds of account. A shopper takes precedence over an administrator with the same name. */
export async function loginAnyone(deps: LoginDeps, given: Credentials): Promise<string> {
  return deps.limits({ account: given.username, address: given.address, isGuess }, async () => {
    const { username, password } = given;
    const shopper = await checkPassword(deps, await selectShopperByLogin(deps.runtime.sql, username), password);
    if (!shopper) return administratorToken(deps, given);
    return deps.tokens.issue({ role: 'user', id: shopper.id, perms: [], generation: shopper.generation });
  });
}
