-- Groups of group buys, and their members.
create schema group_buy;

create table group_buy.groups (
  id bigint generated always as identity primary key,
  activity_id bigint not null,
  activity_product_id bigint not null,
  -- as the activity was when the group was opened
  activity_name text not null,
  product_id bigint not null,
  -- 0: any SKU of the product
  sku_id bigint not null check (sku_id >= 0),
  group_price bigint not null check (group_price > 0),
  leader_id bigint not null,
  group_size integer not null check (group_size >= 2),
  joined_count integer not null default 1 check (joined_count >= 1 and joined_count <= group_size),
  status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
  expire_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((status = 'success') = (joined_count = group_size)),
  check ((status = 'pending') = (ended_at is null))
);
create index groups_due on group_buy.groups (expire_at, id) where status = 'pending';
create index groups_led on group_buy.groups (leader_id) where status = 'pending';
create index groups_of_activity on group_buy.groups (activity_id, id);
create index groups_by_status on group_buy.groups (status, id);
create index groups_failed on group_buy.groups (ended_at) where status = 'failed';

create table group_buy.members (
  id bigint generated always as identity primary key,
  group_id bigint not null references group_buy.groups on delete cascade,
  user_id bigint not null,
  -- Null: the leader, before the leader attaches an order.
  order_id bigint,
  is_leader boolean not null,
  -- The group has failed, and the order is not cancelled yet.
  refund_due boolean not null default false,
  created_at timestamptz not null,
  unique (group_id, user_id),
  check (is_leader or order_id is not null),
  check (order_id is not null or not refund_due)
);
create unique index members_order on group_buy.members (order_id) where order_id is not null;
create unique index members_leader on group_buy.members (group_id) where is_leader;
create index members_refund_due on group_buy.members (id) where refund_due;
