import type { TestData } from '@tradepost/testing/test-data';

/** One shopper checked in two and one days ago, another one today. */
const rows = `
  insert into checkin.check_ins (id, user_id, date, consecutive_days, points, created_at) overriding system value
    values (1, 11, current_date - 2, 1, 10, now() - interval '2 days'), (2, 11, current_date - 1, 2, 10, now() - interval '1 day'),
           (3, 12, current_date, 1, 10, now());
  select setval('checkin.check_ins_id_seq', 3);
  insert into checkin.streaks (user_id, last_date, consecutive_days) values (11, current_date - 1, 2), (12, current_date, 1);
  insert into points.logs (user_id, type, points, related_id, cause, created_at)
    select user_id, 1, points, id, 'checkin:' || user_id || ':' || date, created_at from checkin.check_ins;
  insert into points.accounts (user_id, balance) values (11, 20), (12, 10)
    on conflict (user_id) do update set balance = accounts.balance + excluded.balance;`;

/** Moves the check-ins of shopper 11 back. Retention has not deleted them. */
const monthsAgo = (days: number) => `
  update checkin.check_ins set date = date - ${days} where user_id = 11;
  update checkin.streaks set last_date = last_date - ${days} where user_id = 11;
  update points.logs l set cause = 'checkin:11:' || c.date from checkin.check_ins c where c.user_id = 11 and l.cause like 'checkin:11:%' and l.related_id = c.id;`;

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'checkin.one_per_day',
      'two check-ins of a day',
      `alter table checkin.check_ins drop constraint check_ins_one_per_day;
       insert into checkin.check_ins (user_id, date, consecutive_days, points, created_at) values (12, current_date, 1, 10, now())`,
    ],
    [
      'checkin.chain',
      'a streak that does not continue the day before',
      `update checkin.check_ins set consecutive_days = 5 where id = 2;
       update checkin.streaks set consecutive_days = 5 where user_id = 11`,
    ],
    [
      'checkin.chain',
      'a streak that begins with its second day',
      `update checkin.check_ins set consecutive_days = 2 where id = 3;
       update checkin.streaks set consecutive_days = 2 where user_id = 12`,
    ],
    [
      'checkin.chain',
      'a check-in in the middle of an old streak is missing',
      `insert into checkin.check_ins (user_id, date, consecutive_days, points, created_at) values (11, current_date - 3, 1, 0, now());
       update checkin.check_ins set consecutive_days = consecutive_days + 2 where id < 3;
       update checkin.streaks set consecutive_days = 4 where user_id = 11; ${monthsAgo(100)}`,
    ],
    ['checkin.streaks', 'of another day', `update checkin.streaks set last_date = current_date - 2 where user_id = 11`],
    ['checkin.streaks', 'missing', `delete from checkin.streaks where user_id = 12`],
    [
      'checkin.streaks',
      'without a check-in',
      `insert into checkin.streaks (user_id, last_date, consecutive_days) values (99, current_date, 1)`,
    ],
    ['checkin.points', 'another number than in the ledger', `update checkin.check_ins set points = 11 where id = 2`],
    [
      'checkin.points',
      'a row of the ledger of another type',
      `update points.logs set type = 5 where cause like 'checkin:12:%'`,
    ],
    [
      'checkin.points',
      'points without a check-in',
      `insert into points.logs (user_id, type, points, cause, created_at) values (12, 1, 10, 'checkin:12:again', now());
       update points.accounts set balance = balance + 10 where user_id = 12`,
    ],
  ],
};
