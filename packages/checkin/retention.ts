import { type RetentionRule, retentionDays } from '@tradepost/runtime';
import { keptDays } from './limits.ts';

export const checkInDays = retentionDays('check_ins', 730, 'check-ins of shoppers');

export const checkinRetention: readonly RetentionRule[] = [
  {
    name: 'check_ins',
    about: 'check-ins of shoppers; their streaks and their points stay',
    table: 'checkin.check_ins',
    age: 't.created_at',
    // The status of a shopper shows the days of the month.
    where: (sql) => sql`t.date < current_date - ${keptDays}::int`,
    days: checkInDays,
  },
];
