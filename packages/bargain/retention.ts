import { type RetentionRule, retentionDays } from '@tradepost/runtime';

export const failedBargainsDays = retentionDays('failed_bargains', 365, 'bargains that failed');

export const bargainRetention: readonly RetentionRule[] = [
  {
    name: 'failed_bargains',
    about: 'bargains that failed, with their helps',
    table: 'bargain.bargains',
    age: 't.ended_at',
    where: (sql) => sql`t.status = 'failed'`,
    days: failedBargainsDays,
  },
];
