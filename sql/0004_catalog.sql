-- Keyword search, favourites, reviews, spec templates, removal of products.

-- Removal ------------------------------------------------------------------------------------------------------------
-- A removed product keeps its row: orders, reviews, warehouses and activities speak of its ids for years.
alter table catalog.products
  add column deleted_at timestamptz,
  add constraint products_deleted_off_shelf check (deleted_at is null or status = 0),
  -- what the SKUs have sold as the last refresh saw it: can be sorted by index, and costs the orders nothing
  add column sales_seen bigint not null default 0,
  -- room in each page keeps favourites heap-only: no index is touched
  set (fillfactor = 85);
create index products_best_sellers on catalog.products (sales_seen desc, sort desc, id desc) where status = 1;
create index products_kept on catalog.products (sort desc, id desc) where deleted_at is null;
create index products_in_category on catalog.products (category_id) where deleted_at is null;
create index categories_of_parent on catalog.categories (parent_id);
-- Codes are looked up without regard to case, also by their beginning.
create index product_skus_by_code on catalog.product_skus (lower(sku_code) text_pattern_ops) where sku_code <> '';

-- Search -------------------------------------------------------------------------------------------------------------
-- Names are qualified and nothing depends on settings: generated columns and restores run them with an empty path.

-- One form for what is written in many: width, case, white space.
create function catalog.search_text(given text) returns text
language sql immutable strict parallel safe as $$
  select pg_catalog.btrim(pg_catalog.regexp_replace(pg_catalog.lower(normalize(given, nfkc)), '\s+', ' ', 'g'))
$$;

-- Title, subtitle ... of a product: the base text and those of its translations, one per line, with a line end before
-- and after each.
create function catalog.search_lines(base text, translations jsonb, field text) returns text
language sql immutable strict parallel safe as $$
  select E'\n' || pg_catalog.string_agg(line, E'\n' order by n) || E'\n'
  from (
    select 0 as n, catalog.search_text(base) as line
    union all
    select l.n, catalog.search_text(l.texts ->> field)
    from pg_catalog.jsonb_each(translations) with ordinality as l (language, texts, n)
    where pg_catalog.jsonb_typeof(l.texts -> field) = 'string'
  ) as lines
$$;

-- The terms of a text: words, runs of Chinese, Japanese or Korean characters, single symbols.
create function catalog.search_terms(given text) returns table (n bigint, word text, run text, symbol text)
language sql immutable strict parallel safe as $$
  select t.n, pg_catalog.left(t.m[2], 100), t.m[1], t.m[3]
  from pg_catalog.regexp_matches(given,
    '([\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)'
    '|([^\s\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u2bff\u3000-\u30ff'
    '\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe00-\ufe0f\uff00-\uffef\U0001f000-\U0003ffff]+)'
    '|(\S)', 'g') with ordinality as t (m, n)
$$;

-- What a text is found by, all with one weight: words as written and stemmed, characters and pairs of characters,
-- symbols by their number. Letters and digits only, so that quoting is enough to write them down.
create function catalog.search_lexemes(given text, weight text) returns tsvector
language sql immutable strict parallel safe as $$
  select coalesce(pg_catalog.string_agg(distinct '''' || l.lexeme || ''':1' || weight, ' '), '')::tsvector
  from catalog.search_terms(given) as t
  cross join lateral (
    select t.word where t.word is not null
    union all
    select s.stem from pg_catalog.unnest(pg_catalog.ts_lexize('pg_catalog.english_stem', t.word)) as s (stem)
    where s.stem ~ '^\w+$'
    union all
    select pg_catalog.substr(t.run, i, size)
    from pg_catalog.generate_series(1, pg_catalog.length(t.run)) as i, pg_catalog.generate_series(1, 2) as size
    where i + size - 1 <= pg_catalog.length(t.run)
    union all
    select '#' || pg_catalog.to_hex(pg_catalog.ascii(t.symbol)) where t.symbol is not null
  ) as l (lexeme)
$$;

create function catalog.search_vector(titles text, subtitles text) returns tsvector
language sql immutable strict parallel safe as $$
  select catalog.search_lexemes(titles, 'A') || catalog.search_lexemes(subtitles, 'C')
$$;

-- Every term of the keyword must be there; null when it has none. `weight` A: there in a title.
--  * A word is found as written, as the beginning of a longer one, and by its stem. A single letter beside other terms
--    only as written. Stop words do not count beside a word of three letters or a character run.
--  * A run is cut into pairs of characters, which may stand apart; of an odd run one character stays single, each in turn.
--    A run of more than nine must stand there as it is.
--  * Symbols count when there is nothing else.
create function catalog.search_query(keyword text, weight text default '') returns tsquery
language sql immutable strict parallel safe as $$
  with terms as (
    select t.*, pg_catalog.ts_lexize('pg_catalog.english_stem', t.word) as stems,
           pg_catalog.count(*) filter (where t.symbol is null) over () as spoken
    from catalog.search_terms(catalog.search_text(keyword)) as t
  ), marked as (
    select *, word is not null and stems = '{}' as is_stop,
           pg_catalog.bool_or(run is not null or (stems <> '{}' and pg_catalog.length(word) > 2)) over () as has_weight
    from terms
  ), parts as (
    select m.n, case
      when m.word is not null then
        '(''' || m.word || ''':' || case when pg_catalog.length(m.word) > 1 or m.spoken = 1 then '*' else '' end || weight
        || coalesce((select pg_catalog.string_agg('|''' || s.stem || ''':' || weight, '')
                     from pg_catalog.unnest(m.stems) as s (stem) where s.stem ~ '^\w+$'), '') || ')'
      when m.symbol is not null then '''#' || pg_catalog.to_hex(pg_catalog.ascii(m.symbol)) || ''':' || weight
      when pg_catalog.length(m.run) = 1 then '''' || m.run || ''':' || weight
      when pg_catalog.length(m.run) % 2 = 0 or pg_catalog.length(m.run) > 9 then
        (select pg_catalog.string_agg('''' || pg_catalog.substr(m.run, i, 2) || ''':' || weight, '&')
         from pg_catalog.generate_series(1, pg_catalog.length(m.run) - 1,
                                         case when pg_catalog.length(m.run) > 9 then 1 else 2 end) as i)
      else
        (select '(' || pg_catalog.string_agg('(' || tiles || ')', '|') || ')'
         from (select single, pg_catalog.string_agg(
                 '''' || pg_catalog.substr(m.run, i, case when i = single then 1 else 2 end) || ''':' || weight, '&') as tiles
               from pg_catalog.generate_series(1, pg_catalog.length(m.run), 2) as single
               cross join lateral (
                 select pg_catalog.generate_series(1, single, 2) as i
                 union all
                 select pg_catalog.generate_series(single + 1, pg_catalog.length(m.run) - 1, 2)) as places
               group by single) as cut)
      end as part
    from marked as m
    where not (m.is_stop and m.has_weight) and (m.symbol is null or m.spoken = 0)
  )
  select pg_catalog.string_agg(part, '&' order by n)::tsquery from parts
$$;

-- The keyword as a pattern for "contains", taken as text; null when the trigram index could not help, which needs three
-- letters or digits, or fewer at the edge of a word.
create function catalog.search_pattern(keyword text) returns text
language sql immutable strict parallel safe as $$
  select '%' || pg_catalog.regexp_replace(k, '([\\%_])', '\\\1', 'g') || '%'
  from (select catalog.search_text(keyword) as k) as given
  where k ~ '[a-z0-9]{3}|[a-z0-9]{2}[ -/:-@\[-`{-~]|[ -/:-@\[-`{-~][a-z0-9]'
$$;

-- Lines or a keyword with a blank for each sign, and one around each line: what whole words are looked for in.
create function catalog.search_plain(given text) returns text
language sql immutable strict parallel safe as $$
  select pg_catalog.replace(pg_catalog.translate(given, '.,;:!?()[]{}<>/\|-_+*&%#@"''`~', pg_catalog.repeat(' ', 31)), E'\n', E' \n')
$$;

alter table catalog.products
  add column search_titles text generated always as (catalog.search_lines(title, translations, 'title')) stored,
  add column search tsvector generated always as (
    catalog.search_vector(catalog.search_lines(title, translations, 'title'),
                          catalog.search_lines(subtitle, translations, 'subtitle'))) stored;
create index products_by_words on catalog.products using gin (search);
create extension if not exists pg_trgm with schema catalog;
do $$
declare
  -- it may have been there before, in a schema of the administrator's choice
  home text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'pg_trgm');
begin
  execute format('create index products_by_letters on catalog.products using gin (search_titles %I.gin_trgm_ops)', home);
end $$;

-- Favourites ---------------------------------------------------------------------------------------------------------
create table catalog.favorites (
  user_id bigint not null,
  product_id bigint not null references catalog.products (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (user_id, product_id)
);
create index favorites_of_user on catalog.favorites (user_id, created_at desc, product_id desc);
create index favorites_of_product on catalog.favorites (product_id);

-- Reviews ------------------------------------------------------------------------------------------------------------
-- One root review per order line, children appended by the buyer, one reply of the shop.
create table catalog.reviews (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  order_item_id bigint not null unique,
  order_no text not null default '',
  product_id bigint not null references catalog.products (id),
  user_id bigint not null,
  merchant_id bigint not null default 1,
  product_score smallint not null check (product_score between 1 and 5),
  logistics_score smallint not null check (logistics_score between 1 and 5),
  content text not null default '',
  images jsonb not null default '[]' check (jsonb_typeof(images) = 'array'),
  edited_times int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- The scores ride along: a product's averages are read from the index alone.
create index reviews_of_product on catalog.reviews (product_id, id desc) include (product_score, logistics_score);
create index reviews_of_order on catalog.reviews (order_id);
create table catalog.review_appends (
  id bigint generated always as identity primary key,
  review_id bigint not null references catalog.reviews (id) on delete cascade,
  user_id bigint not null,
  content text not null default '',
  images jsonb not null default '[]' check (jsonb_typeof(images) = 'array'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index review_appends_of_review on catalog.review_appends (review_id, id);
create table catalog.review_replies (
  id bigint generated always as identity primary key,
  review_id bigint not null unique references catalog.reviews (id) on delete cascade,
  admin_id bigint not null,
  content text not null check (content <> ''),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Spec templates -----------------------------------------------------------------------------------------------------
create table catalog.spec_templates (
  id bigint generated always as identity primary key,
  name text not null,
  category_ids bigint[] not null default '{}',
  attrs jsonb not null default '[]' check (jsonb_typeof(attrs) = 'array'),
  status smallint not null default 1 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index spec_templates_of_category on catalog.spec_templates using gin (category_ids);
