import type { Audit } from '@tradepost/runtime';
import { maxEnabledReductions } from './limits.ts';

export const marketingAudits: readonly Audit[] = [
  {
    name: 'marketing.coupon_counts',
    about: 'a coupon counts the coupons that shoppers got (claimed_count) and those that staff sent (used_count)',
    query: (sql) => sql`
      with issued as (
        select coupon_id, count(*) as issued, count(*) filter (where source = 'send') as sent
        from marketing.user_coupons group by coupon_id
      )
      select coalesce(c.id, i.coupon_id) as coupon_id, c.claimed_count, i.issued, c.used_count, i.sent
      from marketing.coupons c full join issued i on i.coupon_id = c.id
      where c.id is null or c.claimed_count <> coalesce(i.issued, 0) or c.used_count <> coalesce(i.sent, 0)`,
  },
  {
    name: 'marketing.coupon_limits',
    about: 'shoppers got no more coupons than total_count and per_limit allowed when they got them',
    query: (sql) => sql`
      select u.id as user_coupon_id, u.coupon_id, u.user_id, u.nth, v.total_count, u.own, v.per_limit
      from (
        select id, coupon_id, user_id, version_id, row_number() over (partition by coupon_id order by id) as nth,
               row_number() over (partition by coupon_id, user_id order by id) as own
        from marketing.user_coupons) as u
      join marketing.coupon_versions v on v.id = u.version_id
      where (v.total_count > 0 and u.nth > v.total_count) or (v.per_limit > 0 and u.own > v.per_limit)`,
  },
  {
    name: 'marketing.coupon_versions',
    about: 'a coupon has its fields as its version, and a coupon of a shopper has a version of it with the same end',
    query: (sql) => sql`
      select c.id as coupon_id, null::bigint as user_coupon_id, c.version_id
      from marketing.coupons c left join marketing.coupon_versions v on v.id = c.version_id and v.coupon_id = c.id
      where v.id is null
         or (c.name, c.type, c.min_amount, c.discount, c.start_at, c.end_at, c.description, c.stack_rule, c.total_count, c.per_limit)
            is distinct from
            (v.name, v.type, v.min_amount, v.discount, v.start_at, v.end_at, v.description, v.stack_rule, v.total_count, v.per_limit)
      union all
      select u.coupon_id, u.id, u.version_id
      from marketing.user_coupons u
      left join marketing.coupon_versions v on v.id = u.version_id and v.coupon_id = u.coupon_id
      where v.id is null or v.end_at is distinct from u.end_at`,
  },
  {
    name: 'marketing.used_coupons',
    about: 'a used coupon belongs to an order of its shopper that used coupons and is not cancelled',
    // The dispatcher returns the coupons of an order that was refunded before shipment, within seconds after it.
    query: (sql, now) => sql`
      select u.id as user_coupon_id, u.order_id, o.status
      from marketing.user_coupons u left join orders.orders o on o.id = u.order_id
      where u.status = 2 and (
        o.id is null or o.user_id <> u.user_id or not coalesce('coupon' = any(o.price_steps), false)
        or (o.status = 6 and (o.paid_at is null or o.updated_at < ${now} - interval '1 hour')))`,
  },
  {
    name: 'marketing.order_coupons',
    about: 'an order that is not cancelled has at least one used coupon for each coupon in its discounts',
    query: (sql) => sql`
      with part as (
        select o.id as order_id, coalesce('coupon' = any(o.price_steps), false) as recorded,
               count(*) filter (where d ->> 'type' = 'coupon') as discounts
        from orders.orders o left join lateral jsonb_array_elements(o.discounts) as d on true
        where o.status <> 6 and (o.price_steps is not null or o.discounts is not null)
        group by o.id
      ), used as (
        select order_id, count(*) as used from marketing.user_coupons where status = 2 group by order_id
      )
      select p.order_id, p.discounts, coalesce(u.used, 0) as used
      from part p left join used u using (order_id)
      where coalesce(u.used, 0) < greatest(p.discounts, case when p.recorded then 1 else 0 end)`,
  },
  {
    name: 'marketing.coupons_expired',
    about: 'unused coupons are marked as expired within two hours after their end',
    pendingWork: true,
    query: (sql, now) => sql`
      select id as user_coupon_id, end_at from marketing.user_coupons
      where status = 1 and end_at < ${now} - interval '2 hours'`,
  },
  {
    name: 'marketing.full_reductions',
    about: `at most ${maxEnabledReductions} full reductions are enabled and have not ended`,
    query: (sql, now) => sql`
      select count(*) as enabled from marketing.full_reductions
      where status = 1 and (end_at is null or end_at > ${now} - interval '1 second')
      having count(*) > ${maxEnabledReductions}`,
  },
];
