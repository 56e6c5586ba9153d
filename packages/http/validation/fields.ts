import { largestPage, maxMinor, toWire } from '@tradepost/core';
import { z } from 'zod';

/** Field schemas for the requests and responses of every package. */

/** A database id. */
export const id = () =>
  z
    .int()
    .min(1)
    .meta({ examples: [1] });
/** An id, or 0 for no id. */
export const idOrZero = () =>
  z
    .int()
    .min(0)
    .meta({ examples: [0] });
export const idParams = z.object({ id: id() });
/** An id in a path. The example is an id of the demo shop. */
export const exampleIdParams = (example: number) => z.object({ id: id().meta({ examples: [example] }) });

/** JSON can carry NUL and single surrogates; PostgreSQL cannot store them. */
const unstorable = /\0|\p{Surrogate}/u;

/** True when jsonb can store a free-form value: its texts are valid and it is nested at most `depth` levels. */
export function isStorable(value: unknown, depth = 64): boolean {
  if (typeof value === 'string') return !unstorable.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.entries(value).every(([key, part]) => isStorable(key) && isStorable(part, depth - 1));
}

/** A text of at most `max` characters. */
export const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => isStorable(value), { error: 'must not contain NUL or broken Unicode' });

/** Neither white space nor a control character, a mark of direction or another character without a shape. */
const visible = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/v;

/** A text without white space around it. A text without a visible character is blank: it becomes ''. */
export const trimmedText = (max: number) =>
  text(max)
    .trim()
    .overwrite((value) => (visible.test(value) ? value : ''));
export const requiredText = (max: number) => trimmedText(max).min(1);

/**
 * Control characters, zero-width characters, marks that change the direction of a text, and single surrogates. Variation
 * selectors are not among them: some names need them.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}[\p{Default_Ignorable_Code_Point}--\p{Variation_Selector}]]/v;

/** One line of visible characters, such as a code or a name. White space around it is removed, also a line break. */
export const lineText = (max: number) =>
  z
    .string()
    .max(max)
    .trim()
    .refine((value) => !hidden.test(value), { params: { fault: 'hidden' } });

/**
 * An amount in a request: currency units. Convert it with `toMinor` before it is stored, which rounds to cents. A positive amount
 * that would become 0 is refused, because 0 often means not set or free.
 */
export const amountInput = () =>
  z
    .number()
    .min(0)
    .max(toWire(maxMinor))
    .refine((value) => value <= 0 || value >= 0.005, { params: { fault: 'below_cent' } })
    .meta({ examples: [12.9] });
/** An amount in a response: currency units, two decimals. */
export const amount = () => z.number().meta({ examples: [12.9] });
/** ISO 8601 with the offset of the shop's zone. */
export const timestamp = () => z.string().meta({ format: 'date-time', examples: ['2026-03-01T09:30:00+08:00'] });
/** 0 or 1. */
export const bit = () => z.union([z.literal(0), z.literal(1)]).meta({ examples: [1] });
export const url = () => z.string().meta({ examples: ['http://127.0.0.1:8080/uploads/demo/enamel-mug.svg'] });

/** A file in the multipart form of a streamed route, in bytes. It is not parsed: the document and its clients use it. */
export const binary = (max: number) =>
  z
    .string()
    .max(max)
    .meta({ format: 'binary', examples: ['(the bytes of a file)'] });

/** A list of at most `max` entries. Every list of an answer states its bound, and the handler must keep to it. */
export const list = <T extends z.ZodType>(entry: T, max: number) => z.array(entry).max(max);

/** The `data` of a write that answers nothing. */
export const nothing = z.null();

const page = {
  page: z
    .int()
    .optional()
    .meta({ examples: [1] }),
  size: z
    .int()
    .optional()
    .meta({ examples: [20] }),
};
/** `page` and `size` beside other fields. The route limits them (`pagingOf`). */
export const pageQueryWith = <S extends z.ZodRawShape>(shape: S) => z.object({ ...shape, ...page });

/** One page of rows. `cap` is the largest `size` of the route, as given to `pagingOf`. */
export const pagedOf = <T extends z.ZodType>(row: T, cap = largestPage) =>
  z.object({ list: list(row, cap), total: z.int(), page: z.int(), size: z.int() });
