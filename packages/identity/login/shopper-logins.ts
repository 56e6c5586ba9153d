import type { Locale, Localized } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { type Runtime, recordEvents } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import {
  deleteShopper,
  findOrInsertShopper,
  type LoginKey,
  type Shopper,
  selectShopper,
} from '../shoppers/identity-store.ts';
import { shopperDeleted } from '../shoppers/shopper-events.ts';
import { raiseFloors } from '../tokens/token-store.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { LoginLimits } from './attempt-limits.ts';
import { type CodeCheck, takeCode } from './sms-codes.ts';
import { deleteCode } from './sms-store.ts';
import { openIdOf } from './wechat.ts';

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'config' | 'settings' | 'log' | 'now'>;
  tokens: Tokens;
  limits: LoginLimits;
};

const nicknamePrefix: Localized = { en: 'User ', 'zh-CN': '用户' };

/** Finds or creates the account of this phone or open id. */
function accountOf(tx: Transaction, key: LoginKey, locale: Locale): Promise<Shopper> {
  return findOrInsertShopper(tx, key, `${nicknamePrefix[locale]}${key.value.slice(-4)}`);
}

const mayLogIn = (shopper: Shopper, { config }: Deps['runtime']) =>
  shopper.status === 1 && !(shopper.is_demo && config.production);

const tokenOf = ({ tokens }: Deps, { id, generation }: Shopper) =>
  tokens.issue({ role: 'user', id, perms: [], generation });

const codeRefusals = {
  login: { wrong: 'login_code_wrong', expired: 'login_code_expired', dead: 'login_code_dead' },
  delete: { wrong: 'delete_code_wrong', expired: 'delete_code_expired', dead: 'delete_code_dead' },
} as const;

/** Refusals that count as a wrong guess. An expired code counts, because it can be a guess too. */
const isWrongCode = ({ refusalName }: { refusalName: string }) => /_code_(wrong|expired|dead)$/.test(refusalName);

const refuseCode = (purpose: keyof typeof codeRefusals, check: Exclude<CodeCheck, 'right'>) =>
  identityErrors[codeRefusals[purpose][check]]();

export type ByCode = { phone: string; code: string; address: string };

/** Returns a token of the account of this phone. For an unknown phone an account is created. */
export async function loginBySms(deps: Deps, { phone, code, address, locale }: ByCode & { locale: Locale }) {
  const { runtime, limits } = deps;
  return limits({ account: `phone:${phone}`, address, isGuess: isWrongCode }, async () => {
    // A wrong guess is counted in this transaction, so the refusal is thrown after the commit.
    const outcome = await runtime.sql.begin(async (tx) => {
      const check = await takeCode(tx, phone, code, runtime.now());
      return check === 'right' ? accountOf(tx, { column: 'phone', value: phone }, locale) : check;
    });
    if (typeof outcome === 'string') throw refuseCode('login', outcome);
    if (!mayLogIn(outcome, runtime)) throw identityErrors.sms_account_disabled();
    return tokenOf(deps, outcome);
  });
}

/** Returns a token of the WeChat user whose mini program sent this code. For a new user an account is created. */
export async function loginByWechat(deps: Deps, of: { code: string; address: string; locale: Locale }) {
  const { runtime, limits } = deps;
  const isGuess = ({ refusalName }: { refusalName: string }) => refusalName === 'wechat_failed';
  return limits({ account: null, address: of.address, isGuess }, async () => {
    const open_id = await openIdOf(runtime, of.code);
    const shopper = await runtime.sql.begin((tx) =>
      accountOf(tx, { column: 'wechat_open_id', value: open_id }, of.locale),
    );
    if (!mayLogIn(shopper, runtime)) throw identityErrors.account_disabled();
    return { token: await tokenOf(deps, shopper), open_id };
  });
}

/**
 * Deletes the account of a shopper: personal data is removed, the row stays for its orders, and all tokens are void. The phone
 * can be used for a new account.
 */
export async function deleteAccount(deps: Deps, userId: number, { phone, code, address }: ByCode): Promise<void> {
  const { runtime, tokens, limits } = deps;
  const shopper = await selectShopper(runtime.sql, userId);
  if (shopper?.status !== 1) throw identityErrors.delete_no_user();
  if (shopper.phone !== phone) throw identityErrors.delete_other_phone();
  const floors = await limits({ account: `phone:${phone}`, address, isGuess: isWrongCode }, async () => {
    const outcome = await runtime.sql.begin(async (tx) => {
      const check = await takeCode(tx, phone, code, runtime.now());
      if (check !== 'right') return check;
      await deleteCode(tx, phone);
      // A parallel request with the same code deleted the account first.
      const now = runtime.now();
      if (!(await deleteShopper(tx, userId, phone, now))) return [];
      await recordEvents(tx, shopperDeleted, [{ user_id: userId }], now);
      return raiseFloors(tx, 'user', [userId]);
    });
    if (typeof outcome === 'string') throw refuseCode('delete', outcome);
    return outcome;
  });
  tokens.announce(floors);
}
