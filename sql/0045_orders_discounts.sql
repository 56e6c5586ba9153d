-- What explains the discount of an order: [{ type, name, amount }], in minor units. Null for none, which takes no space.
alter table orders.orders
  add column discounts jsonb,
  -- The price steps of which the order uses something: what a cancellation gives back.
  add column price_steps text[];
alter table orders.order_items add column discounts jsonb;

-- Release 0.1.0 reprices orders and does not know the column. Its changes are explained here: what the known parts do not explain is
-- a change by the merchant. A contract step removes the triggers when no process of 0.1.0 runs any more.
create function orders.explained_discounts(known jsonb, discount bigint) returns jsonb language sql immutable as $$
  with agreed as (
    select coalesce(jsonb_agg(d order by n), '[]') as parts, coalesce(sum((d ->> 'amount')::bigint), 0)::bigint as amount
    from jsonb_array_elements(coalesce(known, '[]')) with ordinality as k (d, n) where d ->> 'type' <> 'repricing'
  )
  select case when discount <= 0 then null when discount = amount then parts
    else case when discount > amount then parts else '[]' end || jsonb_build_array(jsonb_build_object('type', 'repricing', 'name', '',
      'amount', case when discount > amount then discount - amount else discount end)) end
  from agreed
$$;
create function orders.explain_order_discount() returns trigger language plpgsql as $$
begin
  new.discounts := orders.explained_discounts(old.discounts, new.discount_amount);
  return new;
end $$;
create function orders.explain_item_discount() returns trigger language plpgsql as $$
begin
  new.discounts := orders.explained_discounts(old.discounts, new.price * new.qty - new.payable_amount);
  return new;
end $$;
create trigger explain_discount before update of discount_amount on orders.orders for each row
  when (new.discount_amount <> old.discount_amount and new.discounts is not distinct from old.discounts)
  execute function orders.explain_order_discount();
create trigger explain_discount before update of price, qty, payable_amount on orders.order_items for each row
  when (new.price * new.qty - new.payable_amount <> old.price * old.qty - old.payable_amount
    and new.discounts is not distinct from old.discounts)
  execute function orders.explain_item_discount();
