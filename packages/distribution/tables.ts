import type { SealedColumn, TableInChangeLog } from '@tradepost/runtime';

export const distributionTables: readonly string[] = [
  'distribution.distributors',
  'distribution.bindings',
  'distribution.commissions',
  'distribution.refunds',
  'distribution.withdrawals',
  'distribution.withdrawal_history',
  'distribution.ledger',
];

/** The name that the identity card number of a distributor is sealed with. */
export const idCardName = (distributorId: number | string): string => `distribution.distributors:${distributorId}`;
/** The name that the bank account of a withdrawal is sealed with. */
export const bankAccountName = (withdrawalId: number | string): string => `distribution.withdrawals:${withdrawalId}`;

export const distributionSealed: readonly SealedColumn[] = [
  { table: 'distribution.distributors', key: 'id', column: 'id_card_sealed', nameOf: idCardName },
  { table: 'distribution.withdrawals', key: 'id', column: 'bank_account_sealed', nameOf: bankAccountName },
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const distributionInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'distribution.distributors': { en: 'distributor', 'zh-CN': '分销商' },
  'distribution.bindings': { unwatched: 'Rows of shoppers.' },
  'distribution.commissions': { en: 'commission', 'zh-CN': '佣金' },
  'distribution.refunds': { unwatched: 'Follows from after-sale cases.' },
  'distribution.withdrawals': { en: 'withdrawal', 'zh-CN': '提现' },
  'distribution.withdrawal_history': { unwatched: 'The history of withdrawals, whose table is watched.' },
  'distribution.ledger': { unwatched: 'The ledger of commissions and withdrawals, whose tables are watched.' },
};
