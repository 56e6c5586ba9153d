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
  'identity.messages',
];

/** The view with name and avatar of shoppers, for lists of other packages. */
export const identityPublishes: readonly string[] = ['identity.shopper_names'];
