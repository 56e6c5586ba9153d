import type { paths } from './schema.ts';

export type Method = 'get' | 'post' | 'put' | 'delete' | 'patch';

/** The paths that have the method and answer with an envelope. Files and system pages have no envelope. */
type PathOf<M extends Method> = {
  [P in keyof paths]: [Extract<EnvelopeOf<OperationOf<P, M>>, { code: 0 }>] extends [never] ? never : P;
}[keyof paths];

export type OperationOf<P extends keyof paths, M extends Method> = paths[P] extends { [K in M]: infer O } ? O : never;

type EnvelopeOf<O> = O extends { responses: { 200: { content: { 'application/json': infer E } } } } ? E : never;
/** The `data` of a success. */
export type DataOf<O> = Extract<EnvelopeOf<O>, { code: 0 }> extends { data: infer D } ? D : never;

type PathParameters<O> = O extends { parameters: { path: infer T } } ? { path: T } : unknown;
type QueryParameters<O> = O extends { parameters: { query?: infer T } } ? { query?: T } : unknown;
type Body<O> = O extends { requestBody: { content: { 'multipart/form-data': unknown } } }
  ? { body: FormData }
  : O extends { requestBody: { content: { 'application/json': infer T } } }
    ? { body: T }
    : O extends { requestBody?: { content: { 'application/json': infer T } } }
      ? { body?: T }
      : unknown;

/** Options of one call. They have priority over those of the client. */
export type CallOptions = {
  token?: string | null;
  lang?: 'en' | 'zh-CN';
  signal?: AbortSignal;
  timeoutMs?: number;
  /** The number of repeats after no answer, 429, 502, 503 and 504, for reads and for writes with an Idempotency-Key. */
  retry?: number;
  headers?: Record<string, string>;
};
/** Operations that take an Idempotency-Key. For others it would not make a repeat safe. `true` makes a new key for the call. */
type WriteOptions<O> = O extends { parameters: { header?: infer H } }
  ? [NonNullable<H>] extends [never]
    ? unknown
    : { idempotencyKey?: string | true }
  : unknown;

type Input<O> = PathParameters<O> & QueryParameters<O> & Body<O> & WriteOptions<O> & CallOptions;
/** The input is optional when it has no required field. */
type InputArguments<O> = Record<never, never> extends Input<O> ? [input?: Input<O>] : [input: Input<O>];

export type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...input: InputArguments<OperationOf<P, M>>
) => Promise<DataOf<OperationOf<P, M>>>;

/** The `data` of a list with pages. */
type Page = { list: unknown[]; total: number; page: number; size: number };
type PagedPath = {
  [P in PathOf<'get'>]: [DataOf<OperationOf<P, 'get'>>] extends [Page] ? P : never;
}[PathOf<'get'>];
type PageOf<P extends PagedPath> = Extract<DataOf<OperationOf<P, 'get'>>, Page>;

export type IteratePages = <P extends PagedPath>(
  path: P,
  ...input: InputArguments<OperationOf<P, 'get'>>
) => AsyncGenerator<PageOf<P>, void, undefined>;
export type IterateItems = <P extends PagedPath>(
  path: P,
  ...input: InputArguments<OperationOf<P, 'get'>>
) => AsyncGenerator<PageOf<P>['list'][number], void, undefined>;
