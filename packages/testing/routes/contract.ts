import { expect } from 'vitest';

/**
 * Field lists in the notation of the contract. They are copied from /contract, never from the schemas of the code:
 * i integer, n number with at most two decimals, x any number, s string, b boolean, t ISO 8601 with offset, o object, [] array,
 * 0/1 the integer 0 or 1, json a string holding JSON; `|null`: may be null; `?` after a name: may be absent.
 */
export const contract = {
  address:
    'id i, user_id i, name s, phone s, province s, city s, district s, detail s, is_default 0/1, created_at t, updated_at t',
  productCard:
    'id i, merchant_id i, category_id i, title s, subtitle s, cover s, price n, origin_price n, stock i, sales i, ' +
    'favorite_count i, status i, sort i, detail o, is_favorited b, created_at t, updated_at t',
  sku: 'id i, product_id i, attrs json, price n, stock i, sku_code s, sku_key s, status s',
  image: 'id i, product_id i, url s, sort i',
  cartLine: 'sku_id i, activity_product_id i, qty i, product o, sku o, activity_snapshot? o',
  paged: 'list [], total i, page i, size i',
  order:
    'id i, order_no s, user_id i, merchant_id i, status i, status_label s, inventory_status s, inventory_status_label s, ' +
    'payment_method s, payment_method_label s, goods_amount n, discount_amount n, freight_amount n, total_amount n, amount_breakdown o, address_snapshot o, ' +
    'remark s, tracking_no s, paid_at t|null, created_at t, updated_at t',
  orderView: 'activity_type s, activity_name s, items [], shipments [], latest_shipment? o|null, after_sale_summary o',
  breakdown: 'goods_amount n, discount_amount n, freight_amount n, payable_amount n',
  addressSnapshot: 'name s, phone s, province s, city s, district s, detail s',
  orderItem:
    'id i, order_item_id i, order_id i, warehouse_id i, product_id i, sku_id i, activity_product_id i, activity_id i, ' +
    'activity_type s, activity_title s, title s, cover s, attrs s, price n, qty i',
  shipment:
    'id i, order_id i, after_sale_case_id i, delivery_type s, delivery_type_label s, direction s, direction_label s, ' +
    'biz_type s, biz_type_label s, company s, tracking_no s, rider_name s, rider_phone s, channel_provider s, ' +
    'logistics_status s, logistics_status_label s, last_query_at t|null, last_sync_ok_at t|null, sync_fail_count i, ' +
    'remark s, shipped_at t|null, signed_at t|null, created_by_type s, created_by_type_label s, created_by_id i, ' +
    'created_at t, updated_at t',
  adminProduct:
    'id i, title s, cover s, price n, stock i, favorite_count i, status i, category_id i, category_path_name s, ' +
    'sales_count i, created_at t',
  adminProductDetail:
    'id i, title s, subtitle s, cover s, price n, origin_price n, stock i, category_id i, category_path_name s, ' +
    'status i, detail o, images [], skus [], spec_schema? []',
  adminSku: 'id i, sku_key s, sku_code s, attrs [], price n, stock i, status s',
  adminOrder:
    'user_id i, user_nickname s, status_label s, pay_amount n, pay_method s, receiver_name s, receiver_phone s, ' +
    'receiver_address s, has_after_sale b, notes []',
  userProfile: 'id i, phone s, nickname s, avatar s, points i, status i, created_at t',
  admin: 'id i, username s, role_id i, status i, created_at t',
  role: 'id i, name s, permissions []',
  skuDiff: 'added i, kept i, inactivated i',
  category: 'id i, parent_id i, name s, icon s, sort i, status i, created_at t, updated_at t',
  adminCategory: 'id i, parent_id i, name s, icon s, sort i, status i, product_count i, created_at t, updated_at t',
  categoryNode: 'id i, parent_id i, name s, sort i, product_count i, children []',
  specTemplate: 'id i, name s, category_ids [], attrs [], status 0/1, updated_at t',
  recommended: 'id i, product_id i, cover s, title s, price n, origin_price n, sales i',
  favorite: 'is_favorited b, favorited_at t',
  reviewSummary: 'avg_product_score n, avg_logistics_score n, total i',
  review:
    'id i, order_id i, order_item_id i, order_no s, product_id i, user_id i, merchant_id i, product_score i, ' +
    'logistics_score i, content s, images [], edited_times i, created_at t, updated_at t, user_nickname s, ' +
    'user_avatar s, appends [], admin_reply o|null',
  reviewAppend: 'id i, review_id i, user_id i, content s, images [], created_at t, updated_at t',
  reviewReply: 'id i, review_id i, admin_id i, content s, created_at t, updated_at t',
  reviewMeta: 'order_id i, order_no s, logistics_score i, can_create b, can_edit b, can_append b, options []',
  reviewOption:
    'order_item_id i, review_id i, has_review b, product_id i, product_title s, product_cover s, product_score i, ' +
    'logistics_score i, content s, images []',
  adminReview: 'order_no s, product o, order_item o, user_nickname s, admin_reply o|null, appends []',
  menuDashboard: 'title s, path s',
  menuGroup: 'key s, title s, title_key? s, icon s, sort i, menus []',
  menu: 'title s, title_key? s, icon s, path s, sort i, children []',
  menuPage: 'title s, title_key? s, path s, sort i',
  siteSettings:
    'site_name s, site_logo s, seo_title s, seo_keywords s, seo_description s, icp s, hero_badge s, hero_title s, ' +
    'hero_subtitle s, hero_btn_text s, hero_btn_link s, color_primary s, color_primary_light s, color_primary_dark s, ' +
    'color_bg_page s, color_bg_header s, color_bg_footer s, color_price s, color_hero_from s, color_hero_to s, ' +
    'shop_name s, service_phone s, order_auto_cancel_minutes i',
  decorPage:
    'id i, merchant_id i, page_key s, variant_key s, variant_name s, is_published b, published_at t|null, created_at t, ' +
    'updated_at t',
  shop: 'id i, name s, logo s, owner s, decor_status s',
  announcement: 'id i, title s, content s, type s, created_at t',
  dashboard:
    'today_orders i, today_sales n, today_avg_price n, pending_refunds i, online_sessions i, pending_ship i, ' +
    'pending_after_sale i, unread_message i, stock_warning i, compare o, sales_trend [], trend o, status_distribution [], ' +
    'hot_products [], announcements [], stock_warning_list []',
  compare: 'revenue_yoy x, revenue_mom x, order_yoy x, order_mom x',
  salesDay: 'date s, orders i, sales n',
  series: 'categories [], series []',
  seriesLine: 'name s, data []',
  pie: 'name s, value x',
  hotProduct: 'id i, title s, cover s, sold_qty i',
  stockWarning: 'product_id i, sku_id i, title s, stock i, threshold i',
  salesReport: 'summary o, revenue_trend o, order_trend o, pay_method_distribution [], hourly_distribution o',
  salesSummary: 'gmv n, order_count i, avg_order_value n, refund_rate x, refund_count i',
  productsReport: 'summary o, sku_ranking [], category_sales [], price_range [], inventory_status []',
  productsSummary: 'total_sku i, active_sku_rate x, avg_inventory_turnover x',
  rankedSku: 'rank i, title s, cover s, sold_qty i, revenue n',
  customersReport: 'summary o, new_vs_returning [], order_value_distribution o, purchase_frequency o, rfm_radar o',
  customersSummary:
    'total_customers i, new_customer_count i, returning_count i, repurchase_rate x, avg_customer_value n',
  trafficReport: 'summary o, pv_uv_trend o, channel_distribution [], device_distribution [], page_stay o',
  trafficSummary: 'total_pv i, total_uv i, avg_stay_seconds x, bounce_rate x',
  conversionReport: 'summary o, funnel [], step_rates_trend o',
  conversionSummary:
    'visit_to_cart_rate x, cart_to_order_rate x, order_to_pay_rate x, overall_rate x, abandoned_cart_rate x',
  funnelStep: 'step s, count i, rate x',
  message: 'id i, user_id i, group s, title s, content s, is_read 0/1, created_at t',
  adminMessage: 'id i, user_id i, group s, title s, content s, is_read 0/1, priority? s, created_at t',
  unreadByGroup: 'system i, order i, marketing i, im i',
  aiModel: 'id i, name s, driver s, endpoint s, params o, is_default 0/1, status 0/1, supports_ref_image 0/1',
  aiTask:
    'id i, model_id i, scene s, biz_type s, target_product_id i, ref_image_url s, prompt s, neg_prompt s, params o, ' +
    'status i, result_urls json|null, error_msg s, created_at t',
  configSchema: 'plugin s, title s, fields []',
  configField: 'key s, label s, type s, placeholder? s, required? b, options? []',
  repriced: 'id i, amount_breakdown o',
  orderNote: 'id i, content s, visible_to s, created_at t',
  reminded: 'sent_at t, channel s',
  timelineStage: 'stage s, status s, time t, content s',
  batchResult: 'success_ids [], fail []',
  batchFail: 'id i, reason s',
} as const;

/** The after-sale summary of an order without an after-sale case. */
export const noAfterSale = {
  in_progress_count: 0,
  has_open_case: false,
  latest_case_id: 0,
  latest_status: '',
  latest_status_label: '',
  can_apply: false,
};

const isoWithOffset = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/;

const checks: Record<string, (value: unknown) => boolean> = {
  i: (v) => Number.isSafeInteger(v),
  n: (v) => typeof v === 'number' && Number.isFinite(v) && Math.abs(v * 100 - Math.round(v * 100)) < 1e-6,
  x: (v) => typeof v === 'number' && Number.isFinite(v),
  s: (v) => typeof v === 'string',
  b: (v) => typeof v === 'boolean',
  t: (v) => typeof v === 'string' && isoWithOffset.test(v) && !Number.isNaN(Date.parse(v)),
  o: (v) => typeof v === 'object' && v !== null && !Array.isArray(v),
  '[]': Array.isArray,
  '0/1': (v) => v === 0 || v === 1,
  null: (v) => v === null,
  json(v) {
    try {
      return typeof v === 'string' && typeof JSON.parse(v) === 'object';
    } catch {
      return false;
    }
  },
};

/** Fails with a list of all fields that are absent or have another type. */
export function expectFields(value: unknown, notation: string): void {
  const faults: string[] = [];
  if (!checks.o!(value)) faults.push(`not an object: ${JSON.stringify(value)}`);
  else
    for (const entry of notation.split(', ')) {
      const [name = '', type = ''] = entry.split(' ');
      const key = name.replace('?', '');
      const field = (value as Record<string, unknown>)[key];
      if (!Object.hasOwn(value as object, key)) {
        if (!name.endsWith('?')) faults.push(`${key} is absent`);
      } else if (!type.split('|').some((t) => checks[t]!(field)))
        faults.push(`${key} is ${JSON.stringify(field)}, not ${type}`);
    }
  expect(faults).toEqual([]);
}

/** Expects that the amounts of an order agree with each other and with its lines. Numbers of the wire are compared in cents. */
// biome-ignore lint/suspicious/noExplicitAny: an order of an answer
export function expectMoneyAddsUp(order: any): void {
  const cents = (amount: number) => Math.round(amount * 100);
  const { goods_amount, discount_amount, freight_amount, payable_amount } = order.amount_breakdown;
  expect([goods_amount, discount_amount, freight_amount, payable_amount]).toEqual([
    order.goods_amount,
    order.discount_amount,
    order.freight_amount,
    order.total_amount,
  ]);
  expect(cents(order.total_amount)).toBe(cents(goods_amount) - cents(discount_amount) + cents(freight_amount));
  if (!order.items) return;
  const sum = (of: (item: { price: number; qty: number; payable_amount: number }) => number) =>
    order.items.map(of).reduce((a: number, b: number) => a + b, 0);
  expect(sum((item) => cents(item.price) * item.qty)).toBe(cents(goods_amount));
  expect(sum((item) => cents(item.payable_amount))).toBe(cents(goods_amount) - cents(discount_amount));
}

/** Matches a text that has a Chinese character. */
export const chinese = /[\u4e00-\u9fff]/;
