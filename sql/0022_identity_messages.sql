-- Messages to shoppers about their orders and after-sales. Login codes are never stored here.
create table identity.messages (
  id bigint generated always as identity primary key,
  -- messages that were queued together are sent by one job
  batch uuid not null,
  notice text not null,
  channel text not null check (channel in ('sms', 'wx', 'chat_app')),
  user_id bigint not null,
  phone text not null,
  params jsonb not null check (jsonb_typeof(params) = 'object'),
  -- skipped: too many messages for the phone, or the notice was switched off meanwhile
  status text not null default 'queued' check (status in ('queued', 'sent', 'failed', 'skipped')),
  attempts int not null default 0 check (attempts between 0 and 5),
  last_error text not null default '',
  -- the next attempt; a worker that claims the message sets it to the end of its claim
  due_at timestamptz not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  check ((status = 'sent') = (sent_at is not null))
);
create index messages_queued on identity.messages (batch, due_at) where status = 'queued';
create index messages_due on identity.messages (due_at) where status = 'queued';
create index messages_failed on identity.messages (id desc) where status = 'failed';
create index messages_of_phone on identity.messages (phone, created_at);
create index messages_age on identity.messages (created_at);
