-- Reviews become a package of their own. The tables keep their rows, ids, sequences and indexes.
create schema if not exists reviews;

alter table catalog.reviews set schema reviews;
alter table catalog.review_appends set schema reviews;
alter table catalog.review_replies set schema reviews;
-- A review outlives its product, as the order does. Its line, its order and its product are checked by audits.
alter table reviews.reviews drop constraint reviews_product_id_fkey;

-- The product page reads the summary, so its index no longer carries the scores.
create table reviews.product_summaries (
  product_id bigint primary key,
  total bigint not null,
  product_score_sum bigint not null,
  logistics_score_sum bigint not null
);
-- Each review of a product updates its row. Free space in the page keeps these updates off the index.
alter table reviews.product_summaries set (fillfactor = 70);
insert into reviews.product_summaries (product_id, total, product_score_sum, logistics_score_sum)
select product_id, count(*), sum(product_score), sum(logistics_score) from reviews.reviews group by product_id;

drop index reviews.reviews_of_product;
create index reviews_of_product on reviews.reviews (product_id, id desc);
-- The keyword of the back office.
create index reviews_content on reviews.reviews using gin (runtime.grams(content));
