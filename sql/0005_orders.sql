-- Every single character and every pair of neighbours of a text, for an index that finds parts of any length in any script:
-- trigrams find nothing in a Chinese name of two characters. A search asks for the pairs of what it looks for (for the
-- character, when it is one) and looks at the text of the few rows that have them all.
create function runtime.grams(source text) returns text[] language sql immutable strict parallel safe as $$
  select coalesce(array_agg(distinct substr(t, i, n)), '{}')
  from lower(source) as t, generate_series(1, length(t)) as i, generate_series(1, 2) as n
  where i + n - 1 <= length(t)
$$;
create function runtime.grams_sought(source text) returns text[] language sql immutable strict parallel safe as $$
  select case when length(source) < 2 then array[lower(source)]
    else (select array_agg(distinct substr(t, i, 2)) from lower(source) as t, generate_series(1, length(t) - 1) as i) end
$$;

-- The back office's list: filters by index, exact totals and any page without counting or skipping rows.

-- contained in the address as it was
alter table orders.orders add column province text not null default '';
update orders.orders set province = coalesce(address_snapshot ->> 'province', '');
create index orders_by_province on orders.orders (province, id desc);
-- No index knows the status: a move of an order is then an update within its page that touches no index at all. Orders of a
-- status are found by the counts below, which say in which few thousand ids they are.
drop index orders.orders_by_status;
drop index orders.orders_unpaid;
alter table orders.orders set (fillfactor = 65);
create index orders_by_amount on orders.orders (total_amount);
create index order_items_of_product on orders.order_items (product_id, order_id desc);
create index shipments_by_company on fulfilment.shipments (company, order_id desc);

-- Under which titles a product was sold: an order keeps the title of its day, a search for it finds the product.
create table orders.sold_titles (
  product_id bigint not null,
  title text not null,
  primary key (product_id, title)
);
create index sold_titles_text on orders.sold_titles using gin (runtime.grams(title));
insert into orders.sold_titles select distinct product_id, title from orders.order_items;

-- How many orders of each kind stand in every 4,096 ids. Whoever writes orders adds a change beside them, without touching
-- a row that another transaction needs; a job folds the changes in. The two together are exact at any moment.
create table orders.order_blocks (
  block bigint not null,
  status smallint not null,
  payment_method text not null,
  orders int not null,
  -- the orders counted here were created between these, inclusive
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (block, status, payment_method)
);
create table orders.order_changes (
  id bigint generated always as identity primary key,
  block bigint not null,
  status smallint not null,
  payment_method text not null,
  change int not null,
  first_at timestamptz not null,
  last_at timestamptz not null
);

create function orders.count_new() returns trigger language plpgsql as $$
begin
  insert into orders.order_changes (block, status, payment_method, change, first_at, last_at)
  select id >> 12, status, payment_method, count(*), min(created_at), max(created_at) from added group by 1, 2, 3;
  return null;
end
$$;
create function orders.count_moved() returns trigger language plpgsql as $$
begin
  insert into orders.order_changes (block, status, payment_method, change, first_at, last_at)
  select id >> 12, status, payment_method, sum(n), min(created_at), max(created_at)
  from (select id, status, payment_method, created_at, 1 as n from after_move
        union all select id, status, payment_method, created_at, -1 from before_move) as both_sides
  group by 1, 2, 3
  having sum(n) <> 0
    or min(created_at) filter (where n = 1) is distinct from min(created_at) filter (where n = -1)
    or max(created_at) filter (where n = 1) is distinct from max(created_at) filter (where n = -1);
  return null;
end
$$;
create function orders.count_gone() returns trigger language plpgsql as $$
begin
  insert into orders.order_changes (block, status, payment_method, change, first_at, last_at)
  select id >> 12, status, payment_method, -count(*), min(created_at), max(created_at) from gone group by 1, 2, 3;
  return null;
end
$$;
create trigger count_new after insert on orders.orders
  referencing new table as added for each statement execute function orders.count_new();
create trigger count_moved after update on orders.orders
  referencing old table as before_move new table as after_move for each statement execute function orders.count_moved();
create trigger count_gone after delete on orders.orders
  referencing old table as gone for each statement execute function orders.count_gone();

insert into orders.order_blocks (block, status, payment_method, orders, first_at, last_at)
select id >> 12, status, payment_method, count(*), min(created_at), max(created_at) from orders.orders group by 1, 2, 3;

-- Who orders were sent to: the addresses of today, and those that were changed or removed since an order kept them.
create table identity.former_receivers (
  user_id bigint not null,
  name text not null,
  phone text not null,
  primary key (user_id, name, phone)
);
create index former_receivers_text on identity.former_receivers using gin (runtime.grams(name || ' ' || phone));
create index addresses_receiver on identity.addresses using gin (runtime.grams(name || ' ' || phone));
create index shoppers_nickname on identity.shoppers using gin (runtime.grams(nickname));

create function identity.keep_receiver() returns trigger language plpgsql as $$
begin
  -- not of an account that is being deleted
  insert into identity.former_receivers (user_id, name, phone)
  select old.user_id, old.name, old.phone from identity.shoppers where id = old.user_id and deleted_at is null
  on conflict do nothing;
  return null;
end
$$;
create trigger keep_changed after update on identity.addresses for each row
  when (old.name is distinct from new.name or old.phone is distinct from new.phone) execute function identity.keep_receiver();
create trigger keep_removed after delete on identity.addresses for each row execute function identity.keep_receiver();
