import { afterSaleErrors } from './errors.ts';
import { maxImages } from './limits.ts';

/**
 * The images of a request: without blanks and spaces around them, each once, as stored. Throws a refusal that names the
 * field when more than `maxImages` remain.
 */
export function imagesIn(field: string, images: readonly string[], relative: (url: string) => string): string[] {
  const kept = new Set(images.map((image) => image.trim()).filter(Boolean));
  if (kept.size > maxImages) throw afterSaleErrors.too_many_images({ field, max: maxImages });
  return [...kept].map(relative);
}
