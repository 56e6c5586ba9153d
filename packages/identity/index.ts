import type { Module, Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { smsCodeSender } from './login/send-sms-code.ts';
import { sendTask } from './login/sms-codes.ts';
import { identityRoutes } from './routes.ts';
import { deleteUnneededSigningKeys } from './tokens/token-store.ts';
import type { Tokens } from './tokens/tokens.ts';

export { type Address, insertAddress, selectAddressesOf } from './addresses/address-store.ts';
export { identityAudits } from './identity-audits.ts';
export { identityRetention } from './retention.ts';
export { identitySettings, smsProvider, wechatEndpoint } from './settings.ts';
export { createShopper, createStaff } from './shoppers/accounts.ts';
export { activeShoppers, onShopperTokensEnded, shoppersEndedSince } from './shoppers/active-shoppers.ts';
export { type IdentityFacts, selectIdentityFacts } from './shoppers/facts-store.ts';
export { selectNicknames, selectShopper, selectShopperByLogin, selectStaff } from './shoppers/identity-store.ts';
export { hashPassword } from './shoppers/passwords.ts';
export { nicknameHolds, shoppersByNickname, shoppersByReceiver } from './shoppers/shopper-search-store.ts';
export { changeStaff } from './staff/manage-staff.ts';
export { operator } from './staff/permissions.ts';
export { minPassword, usernamePattern } from './staff/staff-schemas.ts';
export { insertRole, type StaffWithRole, selectAllStaff } from './staff/staff-store.ts';
export { type Inspected, inspectToken } from './tokens/inspect-token.ts';
export { longestTokenHours } from './tokens/token-store.ts';
export { openTokens, type Tokens } from './tokens/tokens.ts';

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
