import type { TableInChangeLog } from '@tradepost/runtime';

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

/** The views for other packages: name and avatar of shoppers, ids of shoppers who can log in, names of administrators. */
export const identityPublishes: readonly string[] = [
  'identity.shopper_names',
  'identity.active_shoppers',
  'identity.staff_names',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const identityInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'identity.shoppers': { unwatched: 'Rows of shoppers.' },
  'identity.former_receivers': { unwatched: 'Rows of shoppers.' },
  'identity.addresses': { unwatched: 'Rows of shoppers.' },
  'identity.staff': { en: 'administrator', 'zh-CN': '管理员' },
  'identity.roles': { en: 'role', 'zh-CN': '角色' },
  'identity.signing_keys': { en: 'signing key', 'zh-CN': '签名密钥' },
  'identity.token_floors': { unwatched: 'Follows from changes of accounts and roles.' },
  'identity.revoked_tokens': { unwatched: 'A logout is no change of the shop.' },
  'identity.sms_codes': { unwatched: 'Rows of shoppers.' },
  'identity.messages': { unwatched: 'A queue of messages to phones.' },
};
