import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const changeLogDays = retentionDays('change_log', 730, 'entries of the change log');
export const changeLogSettings = [changeLogDays] as const;

export const changeLogRetention: readonly RetentionRule[] = [
  {
    name: 'change_log',
    about: 'what administrators and operators changed',
    table: 'change_log.changes',
    age: 't.at',
    days: changeLogDays,
  },
];
