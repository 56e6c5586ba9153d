import type { Module, Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { identityRoutes } from './routes.ts';
import { smsCodeSender } from './send-sms-code.ts';
import { sendTask } from './sms-codes.ts';
import { deleteUnneededSigningKeys } from './token-store.ts';
import type { Tokens } from './tokens.ts';

export { createShopper, createStaff } from './accounts.ts';
export { activeShoppers, onShopperTokensEnded, shoppersEndedSince } from './active-shoppers.ts';
export { type Address, insertAddress, selectAddressesOf } from './address-store.ts';
export { type IdentityFacts, selectIdentityFacts } from './facts-store.ts';
export { identityAudits } from './identity-audits.ts';
export { selectNicknames, selectShopper, selectShopperByLogin, selectStaff } from './identity-store.ts';
export { type Inspected, inspectToken } from './inspect-token.ts';
export { changeStaff } from './manage-staff.ts';
export { hashPassword } from './passwords.ts';
export { operator } from './permissions.ts';
export { identityRetention } from './retention.ts';
export { identitySettings, smsProvider, wechatEndpoint } from './settings.ts';
export { nicknameHolds, shoppersByNickname, shoppersByReceiver } from './shopper-search-store.ts';
export { minPassword, usernamePattern } from './staff-schemas.ts';
export { insertRole, type StaffWithRole, selectAllStaff } from './staff-store.ts';
export { longestTokenHours } from './token-store.ts';
export { openTokens, type Tokens } from './tokens.ts';

/** `routes` answers the routes of all modules: their permissions are among those a role can have. */
export function identityModule(runtime: Runtime, tokens: Tokens, routes: () => readonly Route[]): Module {
  const { sql, config, log } = runtime;
  return {
    name: 'identity',
    routes: identityRoutes(runtime, tokens, routes),
    tasks: {
      [sendTask]: smsCodeSender(runtime),
      'identity.forget_signing_keys': async () => {
        const keys = await deleteUnneededSigningKeys(sql, config.tokenHours);
        if (keys > 0) log.info({ keys }, 'signing keys that no living token needs are forgotten');
      },
    },
    crons: [{ task: 'identity.forget_signing_keys', match: '17 3 * * *' }],
  };
}
