import type { SealedColumn, TableInChangeLog } from '@tradepost/runtime';
import { secretName } from './endpoints/endpoint-secrets.ts';

export const webhookTables: readonly string[] = ['webhooks.endpoints', 'webhooks.deliveries', 'webhooks.attempts'];

const table = 'webhooks.endpoints';
export const webhookSealed: readonly SealedColumn[] = [
  { table, key: 'id', column: 'secret_sealed', nameOf: secretName },
  { table, key: 'id', column: 'previous_secret_sealed', nameOf: secretName },
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const webhooksInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'webhooks.endpoints': { en: 'webhook endpoint', 'zh-CN': 'Webhook 端点' },
  'webhooks.deliveries': { en: 'webhook delivery', 'zh-CN': 'Webhook 投递' },
  'webhooks.attempts': { unwatched: 'Written by deliveries.' },
};
