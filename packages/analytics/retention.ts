import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const visitsDays = retentionDays('visits', 400, 'counters of visits');
export const analyticsSettings = [visitsDays] as const;

export const analyticsRetention: readonly RetentionRule[] = [
  {
    name: 'visits',
    about: 'counters of the visits of a day; visitors and salts of past days are deleted at once',
    table: 'analytics.visit_counts',
    age: 't.day',
    days: visitsDays,
  },
];
