-- Until 0.1.0 only a change by the merchant made a discount. In a migration of its own, so that no table is locked while all rows are
-- read: a change of a row by another process is explained by its trigger and not touched here.
update orders.orders o
set discounts = jsonb_build_array(jsonb_build_object('type', 'repricing', 'name', '', 'amount', discount_amount))
where discount_amount > 0 and discounts is null
  and not exists (select from orders.imported_orders m where m.order_id = o.id);
update orders.order_items i
set discounts = jsonb_build_array(jsonb_build_object('type', 'repricing', 'name', '', 'amount', i.price * i.qty - i.payable_amount))
from orders.orders o
where o.id = i.order_id and o.discounts is not null and i.discounts is null and i.payable_amount < i.price * i.qty;
