type Pictures = { product?: { cover?: string | undefined } | undefined; images?: { url: string }[] | undefined };

/** A copy of a product body whose picture URLs are paths where they are ours. */
export function withPicturePaths<T extends Pictures>(body: T, relative: (url: string) => string): T {
  const { product, images } = body;
  return {
    ...body,
    ...(product?.cover !== undefined ? { product: { ...product, cover: relative(product.cover) } } : {}),
    ...(images ? { images: images.map((image) => ({ ...image, url: relative(image.url) })) } : {}),
  };
}
