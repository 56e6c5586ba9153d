-- What explains the discount of an order: [{ type, name, amount }], in minor units. Null for none, which takes no space.
alter table orders.orders
  add column discounts jsonb,
  -- The price steps of which the order uses something: what a cancellation gives back.
  add column price_steps text[];
alter table orders.order_items add column discounts jsonb;

-- Until now only a change by the merchant made a discount.
update orders.orders o
set discounts = jsonb_build_array(jsonb_build_object('type', 'repricing', 'name', '', 'amount', discount_amount))
where discount_amount > 0 and not exists (select from orders.imported_orders m where m.order_id = o.id);
update orders.order_items i
set discounts = jsonb_build_array(jsonb_build_object('type', 'repricing', 'name', '', 'amount', i.price * i.qty - i.payable_amount))
from orders.orders o where o.id = i.order_id and o.discounts is not null and i.payable_amount < i.price * i.qty;
