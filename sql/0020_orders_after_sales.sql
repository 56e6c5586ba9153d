-- Refunds of after-sales: parts of the payment that paid an order, beside the refunds of surplus payments.
alter table orders.refunds
  add column kind text not null default 'surplus' check (kind in ('surplus', 'after_sale'));
