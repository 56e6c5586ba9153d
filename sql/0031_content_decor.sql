create schema content;

-- One row per page. Writers of a page lock it, so its writes run one after the other.
create table content.decor_pages (
  page_key text primary key check (page_key <> ''),
  created_at timestamptz not null default now()
);

-- What was live, and what is live now. A row never changes: a rollback publishes the old content again.
create table content.decor_publications (
  id bigint generated always as identity primary key,
  page_key text not null references content.decor_pages,
  -- A variant can be deleted or renamed later.
  variant_key text not null,
  variant_name text not null,
  -- JSON text, because clients get their keys back in their order, and SQL never reads inside.
  components text not null check (octet_length(components) <= 524288),
  published_at timestamptz not null,
  -- 0: the command line or the demo data.
  published_by_id bigint not null,
  -- The publication whose content a rollback published again. It may be deleted.
  rolled_back_to bigint
);
create index decor_publications_of_page on content.decor_publications (page_key, id desc);
create index decor_publications_age on content.decor_publications (published_at);

create table content.decor_variants (
  id bigint generated always as identity primary key,
  merchant_id bigint not null default 1,
  page_key text not null references content.decor_pages,
  variant_key text not null check (variant_key <> ''),
  -- '' shows the key, or the name of the default variant in the language of the reader.
  variant_name text not null,
  -- The draft.
  components text not null check (octet_length(components) <= 524288),
  is_published boolean not null default false,
  -- The last publication of the variant.
  publication_id bigint references content.decor_publications,
  published_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (page_key, variant_key),
  check (not is_published or (publication_id is not null and published_at is not null))
);
create unique index decor_variants_live on content.decor_variants (page_key) where is_published;
create index decor_variants_publication on content.decor_variants (publication_id) where publication_id is not null;
