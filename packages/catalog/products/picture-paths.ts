type Pictures = { product?: { cover?: string | undefined } | undefined; images?: { url: string }[] | undefined };

/** Returns a copy of a product body in which picture URLs of this shop are paths. */
export function withPicturePaths<T extends Pictures>(body: T, relative: (url: string) => string): T {
  const { product, images } = body;
  return {
    ...body,
    ...(product?.cover !== undefined ? { product: { ...product, cover: relative(product.cover) } } : {}),
    ...(images ? { images: images.map((image) => ({ ...image, url: relative(image.url) })) } : {}),
  };
}
