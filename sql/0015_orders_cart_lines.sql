-- Adding to carts as one statement: the limit of a cart is exact, and no transaction has to be opened for it.

-- Adds quantities to lines, new ones at the end, and answers the keys it has written. A new line that would be more than
-- `max_lines` of its shopper is left out. Equal keys have been summed by the caller.
create function orders.add_cart_lines(users bigint[], skus bigint[], activities bigint[], quantities int[], max_lines int, max_qty int)
returns table (user_id bigint, sku_id bigint, activity_product_id bigint) language plpgsql as $$
#variable_conflict use_column
begin
  -- Of these shoppers one adder at a time, in the same order everywhere. By itself, so that the next statement sees their lines.
  perform pg_advisory_xact_lock(hashtext('orders.cart_add'), of)
  from (select distinct hashint8(id) as of from unnest(users) as u (id) order by 1) as locked;
  return query
  with wanted as (
    select l.*, c.id is null as is_new
    from unnest(users, skus, activities, quantities) with ordinality as l (user_id, sku_id, activity_product_id, qty, n)
    left join orders.cart_lines c using (user_id, sku_id, activity_product_id)
  ), held as (
    select user_id, count(*) as n from orders.cart_lines
    where user_id in (select user_id from wanted where is_new) group by user_id
  ), numbered as (
    select w.*, coalesce(held.n, 0) + count(*) filter (where is_new) over (partition by user_id order by w.n) as place
    from wanted w left join held using (user_id)
  )
  -- In key order, so that two batches that meet on the same lines wait for each other instead of deadlocking.
  insert into orders.cart_lines (user_id, sku_id, activity_product_id, qty)
  select user_id, sku_id, activity_product_id, least(qty, max_qty) from numbered
  where not is_new or place <= max_lines
  order by user_id, sku_id, activity_product_id
  on conflict (user_id, sku_id, activity_product_id)
  do update set qty = least(cart_lines.qty + excluded.qty, max_qty)
  returning user_id, sku_id, activity_product_id;
end
$$;
