-- Points of shoppers. The rows of the ledger are the truth; balances and sums are derived from them in the same transaction.
create schema points;

create table points.accounts (
  user_id bigint primary key,
  balance bigint not null default 0 check (balance >= 0)
);
create index accounts_with_points on points.accounts (user_id) where balance > 0;

create table points.logs (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  -- 1 check-in, 2 order deduction, 3 exchange, 4 order completed, 5 adjustment, 6 expiry, 7 activity reward
  type smallint not null check (type between 1 and 7),
  points bigint not null check (points <> 0),
  related_id bigint not null default 0,
  remark text not null default '',
  -- what the row is for, such as order:17:used: nothing is written twice
  cause text not null unique,
  created_at timestamptz not null
);
create index logs_of_user on points.logs (user_id, id);
create index logs_by_type on points.logs (type, id);
-- Points that were earned, for the expiry of older ones. What an order or an exchange gives back was earned before.
create index logs_earned on points.logs (user_id, created_at) include (points) where points > 0 and type in (1, 4, 5, 7);
select change_log.watch('points.logs', array['cause']);

-- What an order used, and what it earned.
create table points.order_points (
  order_id bigint primary key,
  user_id bigint not null,
  used bigint not null default 0 check (used >= 0),
  returned bigint not null default 0 check (returned between 0 and used),
  -- what the order deserves by its paid amount less refunds, at the rate of its completion; null before the completion
  earned bigint check (earned >= 0),
  -- points per 10,000 minor units
  earn_rate integer check (earn_rate >= 0),
  -- of an order that cost 0.00: the goods amount that each refunded after-sale case returned, by the id of the case
  returned_goods jsonb not null default '{}' check (jsonb_typeof(returned_goods) = 'object'),
  check ((earned is null) = (earn_rate is null)),
  check (used > 0 or earned is not null)
);

-- Sums of the ledger by quarter hour, so that the day of any time zone is a sum of them. A statement trigger records the rows of
-- each statement as one row, which no other transaction waits for. A job adds these rows to the sums.
create table points.sums (
  bucket timestamptz primary key,
  issued bigint not null,
  consumed bigint not null
);
create table points.sum_changes (
  id bigint generated always as identity primary key,
  bucket timestamptz not null,
  issued bigint not null,
  consumed bigint not null
);
create function points.count_added() returns trigger language plpgsql as $$
begin
  insert into points.sum_changes (bucket, issued, consumed)
  select date_bin('15 minutes', created_at, timestamptz '2000-01-01 00:00+00'),
    coalesce(sum(points) filter (where points > 0), 0), coalesce(-sum(points) filter (where points < 0), 0)
  from added group by 1;
  return null;
end
$$;
create trigger count_added after insert on points.logs
  referencing new table as added for each statement execute function points.count_added();
