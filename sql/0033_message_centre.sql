-- The inboxes of shoppers. A message to all shoppers (a broadcast) is one row with user_id 0.
create schema message_centre;

create table message_centre.messages (
  id bigint generated always as identity primary key,
  user_id bigint not null check (user_id >= 0),
  message_group text not null check (message_group in ('system', 'order', 'marketing', 'im')),
  priority text not null default 'normal' check (priority in ('normal', 'important', 'urgent')),
  -- The text as sent. For the message of an event: its text in the language of the shop, for the time when its template is gone.
  title text not null check (title <> '' and length(title) <= 500),
  content text not null check (content <> '' and length(content) <= 5000),
  template text,
  event_id bigint,
  facts jsonb check (jsonb_typeof(facts) = 'object'),
  -- the administrator who sent it; 0 for events and the command line
  staff_id bigint not null default 0,
  created_at timestamptz not null,
  -- the shopper has read it; broadcasts have broadcast_reads and read_positions
  read_at timestamptz,
  -- staff have opened it in the back office
  staff_read_at timestamptz,
  check ((template is null) = (event_id is null) and (template is null) = (facts is null)),
  check (user_id > 0 or (read_at is null and event_id is null))
);
create unique index messages_of_event on message_centre.messages (event_id, template) where event_id is not null;
create index messages_of_user on message_centre.messages (user_id, id) where user_id > 0;
create index messages_unread on message_centre.messages (user_id, message_group) where user_id > 0 and read_at is null;
create index messages_broadcasts on message_centre.messages (message_group, id) include (created_at) where user_id = 0;
create index messages_by_group on message_centre.messages (message_group, id);
create index messages_unread_by_staff on message_centre.messages (message_group, id) where staff_read_at is null;
create index messages_sent on message_centre.messages (created_at) where event_id is null;
create index messages_age on message_centre.messages (created_at);

-- The broadcasts that a shopper has read one by one.
create table message_centre.broadcast_reads (
  user_id bigint not null,
  message_id bigint not null,
  read_at timestamptz not null,
  primary key (user_id, message_id)
);
create index broadcast_reads_age on message_centre.broadcast_reads (read_at);

-- All broadcasts of the group up to this id are read by the shopper.
create table message_centre.read_positions (
  user_id bigint not null,
  message_group text not null check (message_group in ('system', 'order', 'marketing', 'im')),
  up_to_id bigint not null,
  primary key (user_id, message_group)
);
