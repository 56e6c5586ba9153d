create schema ai_images;

-- The image models that staff may use. Their keys are sealed with runtime.secrets.
create table ai_images.models (
  id bigint generated always as identity primary key,
  name text not null,
  -- an entry of the registry of image drivers
  driver text not null,
  endpoint text not null,
  -- `ai_images.models:<id>` is the name of the secret; null without a key
  api_key_sealed text,
  -- the model at the service, its sizes, and options for its requests
  params jsonb not null default '{}',
  is_default boolean not null default false,
  -- 1 enabled, 0 disabled
  status smallint not null default 1 check (status in (0, 1)),
  supports_ref_image boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index models_default on ai_images.models (is_default) where is_default;

-- One row per request for pictures. A model can be removed afterwards.
create table ai_images.tasks (
  id bigint generated always as identity primary key,
  model_id bigint not null,
  model_name text not null,
  staff_id bigint not null,
  scene text not null,
  biz_type text not null,
  -- the product that the console makes the pictures for, 0 for none; it may not exist any more
  target_product_id bigint not null default 0,
  ref_image_url text not null default '',
  prompt text not null,
  neg_prompt text not null default '',
  params jsonb not null,
  -- 1 generating, 2 done, 3 failed
  status smallint not null default 1 check (status in (1, 2, 3)),
  -- addresses of uploads
  result_urls jsonb,
  -- the name of a failure and its values
  failure jsonb,
  attempts int not null default 0,
  created_at timestamptz not null default now(),
  deadline_at timestamptz not null,
  finished_at timestamptz,
  constraint tasks_done check ((status = 2) = (result_urls is not null)),
  constraint tasks_failed check ((status = 3) = (failure is not null)),
  constraint tasks_ended check ((status = 1) = (finished_at is null))
);
create index tasks_running on ai_images.tasks (staff_id) where status = 1;
