import type { Locale, RefusalFactory } from '@tradepost/core';
import type { Claim, Write } from '@tradepost/runtime';
import type { z } from 'zod';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

/** Who a verified token speaks for. Ids of the two kinds overlap: always look at `role` too. */
export type Caller = {
  readonly role: 'user' | 'admin';
  readonly id: number;
  /** Permission codes of an administrator; `*` is all. */
  readonly perms: readonly string[];
  readonly jti: string;
  /** Unix seconds. */
  readonly expiresAt: number;
};

/**
 * public: no token is looked at. optional: a token that is not a shopper's counts as none. shopper, staff: needed.
 * any: either kind of account.
 */
export type Auth = 'public' | 'optional' | 'shopper' | 'staff' | 'any';

type CallerOf<A extends Auth> = A extends 'public' ? null : A extends 'optional' ? Caller | null : Caller;
type Parsed<S> = S extends z.ZodType ? z.output<S> : Record<string, never>;

export type RouteContext<A extends Auth, P, Q, B> = {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  readonly caller: CallerOf<A>;
  readonly locale: Locale;
  readonly request: Request;
  /** Of a write with an Idempotency-Key; goes along to the use case that keeps its outcome. */
  readonly claim: Claim | null;
  /** One transaction; under an Idempotency-Key its outcome is kept with it. Once per request. */
  readonly write: Write;
  /** The body byte by byte, of a route with `rawBody`; else empty. */
  readonly rawBody: Uint8Array;
};

export type RouteDefinition<A extends Auth, P, Q, B, R extends z.ZodType> = {
  method: Method;
  /** `/api/v1/orders/:id` */
  path: string;
  auth: A;
  /** Code an administrator's token must carry. Only with auth "staff". */
  permission?: string;
  params?: P;
  query?: Q;
  body?: B;
  /**
   * The most bytes of the body; a larger one is refused with 413 before it is collected. Default: 16 KiB for routes that work without a
   * token, 64 KiB for others. MAX_BODY_BYTES is the ceiling of all.
   */
  bodyLimit?: number;
  /** The handler also gets the body as it came: what a signature covers. */
  rawBody?: boolean;
  /** Shape of `data`. Documentation, types and tests use it; answers are not parsed again at run time. */
  response: R;
  summary: string;
  description?: string;
  /** Group in the API reference. */
  tag: string;
  /**
   * What a repeat with the same Idempotency-Key does when the first request died before its answer was kept.
   * recorded: its use case keeps the outcome in its own transaction (`write`, or with `claim`), so the repeat finds it or may run.
   * natural: doing it twice is doing it once, with the same answer. Default: the repeat is refused, as the first request may have
   * been carried out.
   */
  repeat?: 'recorded' | 'natural';
  /**
   * Most SQL statements that one call sends, however many rows it answers or writes. What only opens or ends a transaction
   * is not counted (BEGIN, COMMIT, SET LOCAL), nor what an Idempotency-Key adds: its claim, its answer, a recorded outcome.
   */
  statements?: number;
  /**
   * The refusals that its handler throws; the API document shows each. Refusals that every route can answer are not named
   * (`refusals.ts`). A handler that throws another one fails the test that called it.
   */
  refuses?: readonly RefusalFactory[];
  handle(context: RouteContext<A, P, Q, B>): z.input<R> | Promise<z.input<R>>;
};

/** A route with its types put aside, as the router and the document see it. */
export type Route = Omit<RouteDefinition<Auth, z.ZodType, z.ZodType, z.ZodType, z.ZodType>, 'handle'> & {
  handle(context: RouteContext<Auth, z.ZodType, z.ZodType, z.ZodType>): unknown;
};

/** The one way an endpoint comes into being: router, document, permission list and tests read the same object. */
export function defineRoute<
  A extends Auth,
  R extends z.ZodType,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: RouteDefinition<A, P, Q, B, R>): Route {
  if (definition.permission && definition.auth !== 'staff')
    throw new Error(`${definition.method} ${definition.path}: a permission needs auth "staff"`);
  const names = definition.refuses?.map(({ refusalName }) => refusalName) ?? [];
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice) throw new Error(`${definition.method} ${definition.path}: names the refusal ${twice} twice`);
  return definition as unknown as Route;
}
