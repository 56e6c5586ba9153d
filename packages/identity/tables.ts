export const identityTables: readonly string[] = [
  'identity.shoppers',
  'identity.former_receivers',
  'identity.addresses',
  'identity.staff',
  'identity.roles',
  'identity.signing_keys',
  'identity.token_floors',
  'identity.revoked_tokens',
  'identity.sms_codes',
];

/** Name and picture of a shopper, for lists that show who wrote something. */
export const identityPublishes: readonly string[] = ['identity.shopper_names'];
