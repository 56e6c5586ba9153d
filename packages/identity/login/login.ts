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

/** Whether the password opens this account; throws when the account may not log in although it does. */
async function opens<A extends Account>(
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
  const staff = await opens(deps, await selectStaffByLogin(deps.runtime.sql, username), password);
  if (!staff) throw identityErrors.invalid_login();
  const { id, permissions: perms, generation } = staff;
  return deps.tokens.issue({ role: 'admin', id, perms, generation });
}

/** Back-office login: a token of an administrator. A wrong name and a wrong password look the same. */
export async function loginAdministrator(deps: LoginDeps, given: Credentials): Promise<string> {
  return deps.limits({ account: given.username, address: given.address, isGuess }, () =>
    administratorToken(deps, given),
  );
}

/** Takes either kind of account; a shopper of that name comes before an administrator of the same name. */
export async function loginAnyone(deps: LoginDeps, given: Credentials): Promise<string> {
  return deps.limits({ account: given.username, address: given.address, isGuess }, async () => {
    const { username, password } = given;
    const shopper = await opens(deps, await selectShopperByLogin(deps.runtime.sql, username), password);
    if (!shopper) return administratorToken(deps, given);
    return deps.tokens.issue({ role: 'user', id: shopper.id, perms: [], generation: shopper.generation });
  });
}
