import type { Locale, RefusalFactory } from '@tradepost/core';
import type { ChangeActor } from '@tradepost/postgres';
import type { Claim, ConcurrencyLimit, Write } from '@tradepost/runtime';
import type { z } from 'zod';
import type { FileDefinition, StreamedFile } from '../files/streamed-file.ts';
import type { PreparedAnswer } from '../prepared-answer.ts';
import type { BodyStream } from '../transports/body-stream.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

/**
 * The account that a verified token belongs to. Ids of shoppers and administrators overlap: always compare `role` too.
 */
export type Caller = {
  readonly role: 'user' | 'admin';
  readonly id: number;
  /** Permission codes of an administrator. `*` means all. */
  readonly perms: readonly string[];
  readonly jti: string;
  /** Unix seconds. */
  readonly expiresAt: number;
};

/**
 * public: tokens are ignored. optional: a shopper's token counts, any other is treated as absent. shopper, staff: a
 * token of this kind of account is required. any: a token of either kind is required.
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
  /** The idempotency claim of a write with an Idempotency-Key. Pass it to the use case that stores its outcome. */
  readonly claim: Claim | null;
  /** Runs `work` in one transaction. Under an Idempotency-Key the outcome is stored in it. Call it once per request. */
  readonly write: Write;
  /**
   * The administrator who calls, for the change log. Null for shoppers and for reads, except of files. `write` uses it. Pass it to
   * `actingSql` where a use case opens its own transaction, and to a function of `groupCommit`.
   */
  readonly actor: ChangeActor | null;
  /** The bytes of the body for a route with `rawBody`; empty for other routes. */
  readonly rawBody: Uint8Array;
  /** The body as it arrives, for a route with `bodyStream`; empty for other routes. It can be iterated once. */
  readonly bodyStream: BodyStream;
};

type Handled<R extends z.ZodType> =
  | z.input<R>
  | PreparedAnswer<z.input<R>>
  | (z.input<R> extends string ? StreamedFile<z.input<R>> : never);

export type RouteDefinition<A extends Auth, P, Q, B, R extends z.ZodType> = {
  method: Method;
  /** `/api/v1/orders/:id` */
  path: string;
  auth: A;
  /** The permission code that an administrator's token must carry. Only with auth "staff". */
  permission?: string;
  params?: P;
  query?: Q;
  body?: B;
  /**
   * The largest body in bytes. A larger one is refused with 413 before it is collected. Default: 16 KiB for routes that
   * work without a token, 64 KiB for others. MAX_BODY_BYTES is the upper bound for routes without `bodyStream`.
   */
  bodyLimit?: number;
  /** The handler also gets the bytes of the body, which a signature covers. */
  rawBody?: boolean;
  /**
   * The handler reads the body while it arrives, after all checks of the request. `body` is not parsed: it describes the
   * multipart form in the document, with its file as `binary()`. A body that does not arrive completely makes the
   * iteration reject (BodyStreamError); the handler undoes its work and throws the error on. `bodyLimit` defaults to
   * MAX_UPLOAD_BYTES, which is the upper bound. The path has no parameters.
   */
  bodyStream?: boolean;
  /**
   * The answer is a file without the envelope: the handler returns a StreamedFile, and `response` is the schema of its
   * text. Refusals have the envelope, and so has an error before the first piece. Only with GET and a token.
   */
  file?: FileDefinition;
  /**
   * Slots of the handler, for work that takes much time or memory. Without a free one the request waits, or is answered with
   * 503. Default: reads of staff share the slots of `openStaffReads`, and other routes need none. Files have slots of their own.
   */
  slots?: ConcurrencyLimit;
  /** The schema of `data`. The document, types and tests use it. Answers are not parsed at run time. */
  response: R;
  summary: string;
  description?: string;
  /** The group in the API reference. */
  tag: string;
  /**
   * The behaviour of a repeat with the same Idempotency-Key when the first request died before its answer was stored.
   * recorded: the use case stores its outcome in its own transaction (with `write` or `claim`), so the repeat finds the
   * outcome or may run. natural: the repeat runs again, because running twice has the same effect and answer as running
   * once. Default: the repeat is refused, because the first request may have taken effect.
   */
  repeat?: 'recorded' | 'natural';
  /**
   * Why a successful call of an administrator writes nothing to the change log, for example because it changes nothing.
   * Calls of all other routes with auth "staff" that are not GET write to it.
   */
  notLogged?: string;
  /**
   * The largest number of SQL statements that one call sends, for any number of rows; of a file, for each piece. BEGIN, COMMIT and SET LOCAL are
   * not counted, nor the actor of the change log, nor the statements of an Idempotency-Key (claim, answer, recorded outcome).
   */
  statements?: number;
  /**
   * The refusals that the handler throws. The API document shows each. Refusals that every route can answer are not
   * named (`refusals.ts`). A handler that throws a refusal it did not name fails the test that called it.
   */
  refuses?: readonly RefusalFactory[];
  /** The handler returns a PreparedAnswer, and If-None-Match with its ETag is answered with 304. Only with GET. */
  etag?: boolean;
  handle(context: RouteContext<A, P, Q, B>): Handled<R> | Promise<Handled<R>>;
};

/** A route without its type parameters, as the router and the document use it. */
export type Route = Omit<RouteDefinition<Auth, z.ZodType, z.ZodType, z.ZodType, z.ZodType>, 'handle'> & {
  handle(context: RouteContext<Auth, z.ZodType, z.ZodType, z.ZodType>): unknown;
};

function checkFile({
  method,
  path,
  auth,
  etag,
  file,
}: Pick<Route, 'method' | 'path' | 'auth' | 'etag' | 'file'>): void {
  if (!file) return;
  if (method !== 'GET' || etag || auth === 'public' || auth === 'optional')
    throw new Error(`${method} ${path}: a file needs GET, a token, and no ETag`);
  if (!/^[a-z0-9][\w.-]*$/i.test(file.name))
    throw new Error(`${method} ${path}: ${file.name} is not a plain file name`);
}

/** Defines an endpoint. Router, document, permission list and tests all read the object that it returns. */
export function defineRoute<
  A extends Auth,
  R extends z.ZodType,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: RouteDefinition<A, P, Q, B, R>): Route {
  if (definition.permission && definition.auth !== 'staff')
    throw new Error(`${definition.method} ${definition.path}: a permission needs auth "staff"`);
  if (definition.bodyStream && (definition.method === 'GET' || definition.path.includes(':')))
    throw new Error(`${definition.method} ${definition.path}: a streamed body needs a write without path parameters`);
  if (definition.etag && definition.method !== 'GET')
    throw new Error(`${definition.method} ${definition.path}: an ETag needs GET`);
  checkFile(definition);
  const names = definition.refuses?.map(({ refusalName }) => refusalName) ?? [];
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice) throw new Error(`${definition.method} ${definition.path}: names the refusal ${twice} twice`);
  return definition as unknown as Route;
}
