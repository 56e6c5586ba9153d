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
    about: 'webhook deliveries that wait for an endpoint which has been disabled or removed for as long',
    table: 'webhooks.deliveries',
    age: 't.occurred_at',
    // Locked, so that an endpoint that is enabled at this moment keeps its deliveries.
    where: (sql, before) => sql`
      t.status = 'waiting' and t.endpoint_id in (
        select id from webhooks.endpoints where not enabled and disabled_at < ${before} for share)`,
    days: deliveriesDays,
  },
  {
    name: 'webhook_endpoints',
    about: 'removed webhook endpoints, after their deliveries',
    table: 'webhooks.endpoints',
    age: 't.removed_at',
    where: (sql) => sql`not exists (select from webhooks.deliveries d where d.endpoint_id = t.id)`,
    days: deliveriesDays,
  },
];
