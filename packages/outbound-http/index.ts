export { type AddressGuard, openAddressGuard, openPartnerGuard, RefusedAddressError } from './address-guard.ts';
export { guardedConnector } from './guarded-connector.ts';
export { type GuardedFetch, openGuardedFetch } from './guarded-fetch.ts';
export { rsaPrivateKey, rsaPublicKey } from './rsa-keys.ts';
export { parseTarget, type TargetProblem } from './target-url.ts';
export { tc3Authorization } from './tc3-signature.ts';
