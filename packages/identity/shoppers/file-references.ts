import { addressesIn, type FileReferences } from '@tradepost/storage';

/** Avatars of shoppers. */
export const shopperFiles: FileReferences = {
  name: 'identity',
  referenced: (sql, addresses) => addressesIn(sql, addresses, sql`select avatar from identity.shoppers`),
};
