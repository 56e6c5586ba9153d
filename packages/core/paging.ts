export type Paging = { readonly page: number; readonly size: number; readonly offset: number };
export type Paged<T> = { list: T[]; total: number; page: number; size: number };

/** Contract: a page below 1 is 1; a size below 1 or above the cap is the default, not the cap. */
export function pagingOf(
  query: { page?: number | undefined; size?: number | undefined },
  { cap = 100, size: defaultSize = 20 }: { cap?: number; size?: number } = {},
): Paging {
  // The bound keeps the offset a safe integer; no list is that long.
  const page = Math.min(Math.max(1, Math.trunc(query.page ?? 1)), 10_000_000);
  const wanted = Math.trunc(query.size ?? defaultSize);
  const size = wanted < 1 || wanted > cap ? defaultSize : wanted;
  return { page, size, offset: (page - 1) * size };
}

export function paged<T>(list: T[], total: number, paging: Paging): Paged<T> {
  return { list, total, page: paging.page, size: paging.size };
}
