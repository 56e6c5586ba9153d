-- During a rolling upgrade, instances of the version before read reviews by these names. They only read them; the next release
-- drops the views. PostgreSQL plans a statement on them as on their tables.
create view catalog.reviews as
  select id, order_id, order_item_id, order_no, product_id, user_id, merchant_id, product_score, logistics_score, content,
         images, edited_times, created_at, updated_at
  from reviews.reviews;
create view catalog.review_appends as
  select id, review_id, user_id, content, images, created_at, updated_at from reviews.review_appends;
create view catalog.review_replies as
  select id, review_id, admin_id, content, created_at, updated_at from reviews.review_replies;
