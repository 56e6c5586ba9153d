import type { Audit } from '@tradepost/runtime';

export const webhookAudits: readonly Audit[] = [
  {
    name: 'webhooks.endpoints',
    about: 'every delivery belongs to an endpoint',
    query: (sql) => sql`
      select d.id as delivery_id, d.endpoint_id
      from webhooks.deliveries d left join webhooks.endpoints e on e.id = d.endpoint_id where e.id is null`,
  },
  {
    name: 'webhooks.next',
    about: 'of the deliveries of a subject that wait at an enabled endpoint, one is the next',
    query: (sql) => sql`
      select d.endpoint_id, d.subject, count(*) as waiting
      from webhooks.deliveries d join webhooks.endpoints e on e.id = d.endpoint_id and e.enabled
      where d.status = 'waiting' group by d.endpoint_id, d.subject having not bool_or(d.ready)`,
  },
  {
    name: 'webhooks.attempts',
    about: 'a delivered webhook was answered with a success, and a failed one was not',
    query: (sql) => sql`
      select id as delivery_id, status, last_status, last_error from webhooks.deliveries
      where (status = 'delivered' and (attempts = 0 or last_error <> '' or coalesce(last_status, 0) not between 200 and 299))
         or (status = 'failed' and (attempts = 0 or last_error = ''))`,
  },
];
