-- Daily check-ins of shoppers, and the rules for their points.
create schema checkin;

create table checkin.rules (
  id bigint generated always as identity primary key,
  -- the rule holds from this day of a streak up to the day of the next rule; 0 is below all days
  day integer not null unique check (day between 0 and 3650),
  points integer not null check (points between 0 and 100000)
);
insert into checkin.rules (day, points) values (0, 10), (3, 20), (7, 50);

-- The last check-in of each shopper. Its row serialises the check-ins of a shopper, and retention does not touch it.
create table checkin.streaks (
  user_id bigint primary key,
  -- the day in the zone that the shop had at the check-in
  last_date date not null,
  consecutive_days integer not null check (consecutive_days > 0)
) with (fillfactor = 70);

create table checkin.check_ins (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  date date not null,
  consecutive_days integer not null check (consecutive_days > 0),
  points integer not null check (points >= 0),
  created_at timestamptz not null,
  constraint check_ins_one_per_day unique (user_id, date)
);
create index check_ins_age on checkin.check_ins (created_at);

select change_log.watch('checkin.rules');
