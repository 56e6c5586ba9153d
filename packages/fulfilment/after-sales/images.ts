import { isPictureAddress } from '@tradepost/http';
import { afterSaleErrors } from './errors.ts';
import { maxImages } from './limits.ts';

/**
 * The images of a request as stored: without blanks and spaces around them, as paths of this shop where possible, each once.
 * Throws a refusal that names the field when more than `maxImages` remain, or when one is neither a path nor an http address.
 */
export function imagesIn(field: string, images: readonly string[], relative: (url: string) => string): string[] {
  const kept = [...new Set(images.map((image) => relative(image.trim())).filter(Boolean))];
  if (!kept.every(isPictureAddress)) throw afterSaleErrors.image_address({ field });
  if (kept.length > maxImages) throw afterSaleErrors.too_many_images({ field, max: maxImages });
  return kept;
}
