import type { Module } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { deleteExpiredRevocations } from './identity-store.ts';
import { identityRoutes } from './routes.ts';
import type { Tokens } from './tokens.ts';

export { createShopper, createStaff } from './accounts.ts';
export { type Address, insertAddress, selectAddressesOf } from './address-store.ts';
export { selectNicknames } from './identity-store.ts';
export { identitySettings } from './settings.ts';
export { openTokens, type Tokens } from './tokens.ts';

export function identityModule(runtime: Runtime, tokens: Tokens): Module {
  return {
    name: 'identity',
    routes: identityRoutes(runtime, tokens),
    tasks: { 'identity.forget_revocations': () => deleteExpiredRevocations(runtime.sql) },
    crons: [{ task: 'identity.forget_revocations', match: '17 3 * * *' }],
  };
}
