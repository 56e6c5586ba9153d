-- What a merchant adds to an order: notes, prices changed before payment, reminders to pay. As with lines and history
-- there are no foreign keys: the rows are written under the order's lock or from its row, and orders are never deleted.

create table orders.order_notes (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  content text not null,
  visible_to text not null default 'merchant_only' check (visible_to in ('merchant_only')),
  staff_id bigint not null,
  created_at timestamptz not null default now()
);
create index order_notes_of_order on orders.order_notes (order_id, id);

-- An entry per repricing: the order's amounts before and after, and the unit prices of the lines that changed. The order's
-- history has moves between states only.
create table orders.price_changes (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  staff_id bigint not null,
  remark text not null default '',
  old_goods_amount bigint not null,
  old_discount_amount bigint not null,
  old_total_amount bigint not null,
  goods_amount bigint not null,
  discount_amount bigint not null,
  total_amount bigint not null,
  -- [{ item_id, old_price, price }], in minor units
  lines jsonb not null,
  created_at timestamptz not null default now()
);
create index price_changes_of_order on orders.price_changes (order_id, id);

create table orders.reminders (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  channel text not null check (channel in ('sms', 'wx', 'chat_app')),
  -- skipped: the order was no longer unpaid when its turn came
  status text not null default 'queued' check (status in ('queued', 'sent', 'failed', 'skipped')),
  attempts int not null default 0,
  last_error text not null default '',
  staff_id bigint not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  check ((status = 'sent') = (sent_at is not null))
);
create index reminders_of_order on orders.reminders (order_id, channel, created_at desc);
