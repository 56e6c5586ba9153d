type Pictures = { product?: { cover?: string | undefined } | undefined; images?: { url: string }[] | undefined };

/**
 * Uploaded files are stored by path and answered as absolute URLs, since clients on other origins put them into
 * `img src` unchanged. An editor sends those URLs back: they become paths again, so that the shop can move.
 */
export function fileUrls(request: Request, publicUrl: string | undefined) {
  const origin = (publicUrl ?? request.url.slice(0, request.url.indexOf('/', 8))).replace(/\/$/, '');
  const absolute = (path: string) => (path.startsWith('/') ? origin + path : path);
  const relative = (url: string) => (url.startsWith(`${origin}/uploads/`) ? url.slice(origin.length) : url);
  return {
    absolute,
    /** A copy of a product body whose picture URLs are paths where they are ours. */
    relativeIn<T extends Pictures>(body: T): T {
      const { product, images } = body;
      return {
        ...body,
        ...(product?.cover !== undefined ? { product: { ...product, cover: relative(product.cover) } } : {}),
        ...(images ? { images: images.map((image) => ({ ...image, url: relative(image.url) })) } : {}),
      };
    },
  };
}
