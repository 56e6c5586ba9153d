import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const deliveriesDays = retentionDays('webhook_deliveries', 30, 'webhook deliveries that have ended');
export const webhookRetentionSettings = [deliveriesDays] as const;

export const webhookRetention: readonly RetentionRule[] = [
  {
    name: 'webhook_deliveries',
    about: 'webhook deliveries that have ended, with their attempts',
    table: 'webhooks.deliveries',
    age: 't.ended_at',
    days: deliveriesDays,
  },
  {
    name: 'webhook_backlogs',
    about: 'webhook deliveries that wait for a disabled or removed endpoint',
    table: 'webhooks.deliveries',
    age: 't.occurred_at',
    where: (sql) => sql`
      t.status = 'waiting' and t.endpoint_id in (select id from webhooks.endpoints where not enabled)`,
    days: deliveriesDays,
  },
];
