import type { Runtime } from '@tradepost/runtime';
import { identityErrors } from './errors.ts';
import { selectShopperByLogin, selectStaffByLogin } from './identity-store.ts';
import { passwordFits } from './passwords.ts';
import type { Tokens } from './tokens.ts';

type Deps = { runtime: Pick<Runtime, 'sql' | 'config'>; tokens: Tokens };
type Account = { password_hash: string | null; status: number; is_demo: boolean };

/** Whether the password opens this account; throws when the account may not log in although it does. */
async function opens<A extends Account>(deps: Deps, account: A | undefined, password: string): Promise<A | null> {
  const fits = await passwordFits(account?.password_hash, password);
  if (!fits || !account || (account.is_demo && deps.runtime.config.production)) return null;
  if (account.status !== 1) throw identityErrors.account_disabled();
  return account;
}

/** Back-office login: a token of an administrator. A wrong name and a wrong password look the same. */
export async function loginAdministrator(deps: Deps, username: string, password: string): Promise<string> {
  const staff = await opens(deps, await selectStaffByLogin(deps.runtime.sql, username), password);
  if (!staff) throw identityErrors.invalid_login();
  return deps.tokens.issue({ role: 'admin', id: staff.id, perms: staff.permissions });
}

/** Takes either kind of account; a shopper of that name comes before an administrator of the same name. */
export async function loginAnyone(deps: Deps, username: string, password: string): Promise<string> {
  const shopper = await opens(deps, await selectShopperByLogin(deps.runtime.sql, username), password);
  if (!shopper) return loginAdministrator(deps, username, password);
  return deps.tokens.issue({ role: 'user', id: shopper.id, perms: [] });
}
