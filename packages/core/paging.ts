export type Paging = { readonly page: number; readonly size: number; readonly offset: number };
export type Paged<T> = { list: T[]; total: number; page: number; size: number };

/** The largest size of a page where a list has no limit of its own. */
export const largestPage = 100;

/**
 * A page below 1 is page 1. A size below 1 or above the cap is the default size, and not the cap: clients rely on it.
 */
export function pagingOf(
  query: { page?: number | undefined; size?: number | undefined },
  { cap = largestPage, size: defaultSize = 20 }: { cap?: number; size?: number } = {},
): Paging {
  // The offset stays a safe integer. No list has that many pages.
  const page = Math.min(Math.max(1, Math.trunc(query.page ?? 1)), 10_000_000);
  const requested = Math.trunc(query.size ?? defaultSize);
  const size = requested < 1 || requested > cap ? defaultSize : requested;
  return { page, size, offset: (page - 1) * size };
}

export function paged<T>(list: T[], total: number, paging: Paging): Paged<T> {
  return { list, total, page: paging.page, size: paging.size };
}
