import type { TableInChangeLog } from '@tradepost/runtime';

export const gatewayTables: readonly string[] = [
  'gateway.api_tokens',
  'gateway.user_limits',
  'gateway.token_changes',
  'gateway.usage',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const gatewayInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'gateway.api_tokens': { en: 'API token', 'zh-CN': 'API 令牌' },
  'gateway.user_limits': { en: 'limits of a shopper', 'zh-CN': '用户限额' },
  'gateway.token_changes': { unwatched: 'The history of tokens and limits, whose tables are watched.' },
  'gateway.usage': { unwatched: 'Written by requests of shoppers.' },
};
