import { isPictureAddress } from '@tradepost/http';
import { reviewErrors } from '../errors.ts';
import { maxReviewImages } from '../limits.ts';
import type { ReviewBody, reviewModes } from '../schemas.ts';

/** What a shopper wrote about a line. */
export type Opinion = { product_score: number; content: string; images: string[] };
export type ReviewRequest = {
  order_id: number;
  user_id: number;
  mode: (typeof reviewModes)[number];
  logistics_score: number;
  /** By line. Null: `forAll` is about every line of the order. */
  lines: ReadonlyMap<number, Opinion> | null;
  forAll: Opinion;
  append: Pick<Opinion, 'content' | 'images'>;
};

const scoreOf = (sent: number) => (sent > 0 && sent <= 5 ? sent : 5);

/** The pictures as they are stored: trimmed, as paths of this shop where possible, each once. */
function imagesOf(field: string, sent: readonly string[], relative: (url: string) => string): string[] {
  const images = [...new Set(sent.map((url) => relative(url.trim())).filter((url) => url !== ''))];
  if (!images.every(isPictureAddress)) throw reviewErrors.image_address({ field });
  if (images.length > maxReviewImages) throw reviewErrors.too_many_images({ field, max: maxReviewImages });
  return images;
}

function linesOf({ items }: ReviewBody, relative: (url: string) => string): ReviewRequest['lines'] {
  if (items.length === 0) return null;
  const lines = new Map<number, Opinion>();
  for (const [index, item] of items.entries()) {
    if (lines.has(item.order_item_id)) throw reviewErrors.item_twice();
    lines.set(item.order_item_id, {
      product_score: scoreOf(item.product_score),
      content: item.content,
      images: imagesOf(`items[${index}].images`, item.images, relative),
    });
  }
  return lines;
}

/**
 * The request in a body of POST /orders/:id/review. `relative` converts a URL of this shop to its stored path. Throws
 * the refusal of a body that is not complete.
 */
export function reviewRequestOf(
  body: ReviewBody,
  by: { order_id: number; user_id: number },
  relative: (url: string) => string,
): ReviewRequest {
  const { mode } = body;
  const lines = linesOf(body, relative);
  const forAll = {
    product_score: scoreOf(body.product_score),
    content: body.content,
    images: imagesOf('images', body.images, relative),
  };
  const append = { content: body.append_content, images: imagesOf('append_images', body.append_images, relative) };
  const isEmpty = ({ content, images }: typeof append) => content === '' && images.length === 0;
  if (mode === 'append' && isEmpty(append)) throw reviewErrors.append_empty();
  if (mode !== 'append' && !lines && isEmpty(forAll)) throw reviewErrors.nothing_written();
  return { ...by, mode, logistics_score: scoreOf(body.logistics_score), lines, forAll, append };
}
