import type { Audit } from '@tradepost/runtime';

export const reviewAudits: readonly Audit[] = [
  {
    name: 'reviews.summaries',
    about: 'the summary of a product has the number and the scores of its reviews',
    query: (sql) => sql`
      select product_id, s.total, coalesce(r.total, 0) as reviews, s.product_score_sum, r.product_scores,
             s.logistics_score_sum, r.logistics_scores
      from reviews.product_summaries s
      full join (select product_id, count(*) as total, sum(product_score) as product_scores,
                        sum(logistics_score) as logistics_scores
                 from reviews.reviews group by product_id) as r using (product_id)
      where s.total is distinct from r.total or s.product_score_sum is distinct from r.product_scores
         or s.logistics_score_sum is distinct from r.logistics_scores`,
  },
  {
    name: 'reviews.lines',
    about: 'a review belongs to a line of its order, to the product of the line and to the buyer of the order',
    query: (sql) => sql`
      select r.id as review_id, r.order_id, r.order_item_id, r.product_id, r.user_id,
             i.product_id as product_of_line, o.user_id as buyer
      from reviews.reviews r
      left join orders.order_items i on i.id = r.order_item_id and i.order_id = r.order_id
      left join orders.orders o on o.id = r.order_id
      where i.product_id is distinct from r.product_id or o.user_id is distinct from r.user_id
         or o.order_no <> r.order_no`,
  },
  {
    name: 'reviews.append_authors',
    about: 'an addition to a review is by the author of the review',
    query: (sql) => sql`
      select a.id as append_id, a.review_id, a.user_id, r.user_id as author
      from reviews.review_appends a join reviews.reviews r on r.id = a.review_id where a.user_id <> r.user_id`,
  },
  {
    name: 'reviews.completed',
    about: 'every line of an order that its reviews completed has a review',
    query: (sql) => sql`
      select h.order_id, i.id as order_item_id, h.created_at as completed_at
      from orders.order_history h join orders.order_items i on i.order_id = h.order_id
      where h.trigger = 'reviewed' and not exists (select from reviews.reviews r where r.order_item_id = i.id)`,
  },
];
