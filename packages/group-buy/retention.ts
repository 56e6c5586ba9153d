import { type RetentionRule, retentionDays } from '@tradepost/runtime';

export const failedGroupsDays = retentionDays('failed_groups', 365, 'groups of group buys that failed');

export const groupBuyRetention: readonly RetentionRule[] = [
  {
    name: 'failed_groups',
    about: 'groups of group buys that failed, with their members; groups with an order to be cancelled stay',
    table: 'group_buy.groups',
    age: 't.ended_at',
    where: (sql) => sql`
      t.status = 'failed' and not exists (select from group_buy.members m where m.group_id = t.id and m.refund_due)`,
    days: failedGroupsDays,
  },
];
