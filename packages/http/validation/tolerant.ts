import type { z } from 'zod';

/**
 * Converts input that clients send and that a strict schema would refuse: empty strings for unset numbers, dates and
 * query values; null for absent fields; numbers and booleans as text. The schema stays strict, so the document shows
 * the proper form. Input that cannot be converted is passed on, and the schema refuses it.
 */
export type Tolerant = (value: unknown) => unknown;

type Def = {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  shape?: Record<string, z.ZodType>;
  /** Set for an object that keeps unknown fields. */
  catchall?: z.ZodType;
  format?: string;
  options?: z.ZodType[];
  values?: unknown[];
};
const defOf = (schema: z.ZodType): Def => (schema as unknown as { _zod: { def: Def } })._zod.def;

const wrappers = new Set(['optional', 'nullable', 'default', 'prefault', 'nonoptional', 'catch', 'readonly']);

function unwrap(schema: z.ZodType): { inner: Def; nullable: boolean } {
  let def = defOf(schema);
  let nullable = false;
  for (;;) {
    if (def.type === 'nullable') nullable = true;
    if (wrappers.has(def.type) && def.innerType) def = defOf(def.innerType);
    else if (def.type === 'pipe' && def.in) def = defOf(def.in);
    else return { inner: def, nullable };
  }
}

const identity: Tolerant = (value) => value;

/** Decimal notation without exponent. Other notations are more often a mistake than a number. */
const decimal = /^[+-]?\d+(\.\d+)?$/;
/** Longer texts are not converted: no number of the API needs more characters. */
const maxNumberText = 64;

/** The types that a schema accepts, without null. The options of a union and the types of literals are included. */
function typesOf(def: Def): Set<string> {
  if (def.type === 'union') return new Set(def.options!.flatMap((option) => [...typesOf(unwrap(option).inner)]));
  if (def.type === 'literal') return new Set(def.values!.map((value) => typeof value));
  return new Set(def.type === 'null' ? [] : [def.type]);
}

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ['true', true],
  ['1', true],
  [1, true],
  ['false', false],
  ['0', false],
  [0, false],
]);

function numberIn(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > maxNumberText) return value;
  const text = value.trim();
  return decimal.test(text) ? Number(text) : value;
}

/**
 * Converts text to a number or boolean where the schema accepts only these. Values for other schemas stay as they are.
 */
function scalar(def: Def): Tolerant {
  const types = typesOf(def);
  const number = types.delete('number');
  const boolean = types.delete('boolean');
  if (types.size > 0 || !(number || boolean)) return identity;
  const booleanIn: Tolerant = (value) => booleans.get(value) ?? value;
  if (!boolean) return numberIn;
  if (!number) return booleanIn;
  return (value) => {
    const read = numberIn(value);
    return typeof read === 'string' ? booleanIn(read) : read;
  };
}

function fromText(inner: Def): Tolerant {
  const read = scalar(inner);
  // A filter with "false" is not set.
  if (inner.type === 'boolean') return (value) => (value === '' ? undefined : read(value) || undefined);
  return (value) => (value === '' ? undefined : read(value));
}

/** Converts query values, which are all text, for an object schema. The last value of a repeated name counts. */
export function tolerantQuery(schema: z.ZodType): (query: URLSearchParams) => Record<string, unknown> {
  const shape = unwrap(schema).inner.shape ?? {};
  const fields = Object.entries(shape).map(([name, field]) => [name, fromText(unwrap(field).inner)] as const);
  return (query) => {
    const out: Record<string, unknown> = {};
    for (const [name, convert] of fields) {
      const all = query.getAll(name);
      if (all.length === 0) continue;
      const value = convert(all[all.length - 1]);
      if (value !== undefined) out[name] = value;
    }
    return out;
  };
}

/** The router leaves percent-encoded characters as they are. A text that is not valid encoding stays. */
function decoded(value: string): string {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Converts path parameters. They are never absent: the schema refuses an empty or wrong one. */
export function tolerantParams(schema: z.ZodType): (params: Record<string, string>) => Record<string, unknown> {
  const shape = unwrap(schema).inner.shape ?? {};
  const fields = Object.entries(shape).map(([name, field]) => [name, unwrap(field).inner.type] as const);
  return (params) => {
    const out: Record<string, unknown> = {};
    for (const [name, type] of fields) {
      const value = params[name] === undefined ? undefined : decoded(params[name]);
      out[name] = type === 'number' && value !== undefined && decimal.test(value) ? Number(value) : value;
    }
    return out;
  };
}

const zeros = new WeakSet<z.ZodType>();
/** Marks a number field of a body: an empty string means 0. For fields where an absent value means "unchanged". */
export function zeroWhenEmpty<S extends z.ZodType>(schema: S): S {
  zeros.add(schema);
  return schema;
}

/**
 * True where "" cannot be a value and so means absent: numbers, dates, enumerations, and unions of these such as 0 | 1.
 */
function emptyIsAbsentIn(def: Def): boolean {
  if (def.type === 'union') return def.options!.every((option) => emptyIsAbsentIn(unwrap(option).inner));
  if (def.type === 'literal') return !def.values!.includes('');
  return ['number', 'boolean', 'date', 'enum'].includes(def.type) || def.format === 'datetime';
}

/** Whether this schema is marked, the one that it was made of by `.meta()`, or the one that it wraps, as `.optional()` does. */
function isZeroWhenEmpty(schema: z.ZodType | undefined): boolean {
  if (!schema) return false;
  if (zeros.has(schema) || isZeroWhenEmpty(schema._zod.parent as z.ZodType | undefined)) return true;
  const { type, innerType } = defOf(schema);
  return wrappers.has(type) && isZeroWhenEmpty(innerType);
}

function bodyField(schema: z.ZodType): Tolerant {
  const { inner, nullable } = unwrap(schema);
  const deep = bodyValue(inner);
  const emptyIsAbsent = emptyIsAbsentIn(inner);
  const zero = isZeroWhenEmpty(schema);
  return (value) => {
    if (value === null) return nullable ? null : undefined;
    if (value === '' && emptyIsAbsent) return nullable ? null : zero ? 0 : undefined;
    return deep(value);
  };
}

function bodyValue(def: Def): Tolerant {
  if (def.type === 'object' && def.shape) {
    const fields = Object.entries(def.shape).map(([name, field]) => [name, bodyField(field)] as const);
    return (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      const source = value as Record<string, unknown>;
      const out: Record<string, unknown> = def.catchall ? { ...source } : {};
      for (const [name, convert] of fields) {
        if (!Object.hasOwn(source, name)) continue;
        const converted = convert(source[name]);
        if (converted !== undefined) out[name] = converted;
        else delete out[name];
      }
      return out;
    };
  }
  if (def.type === 'array' && def.element) {
    const convert = bodyValue(unwrap(def.element).inner);
    if (convert === identity) return identity;
    return (value) => (Array.isArray(value) ? value.map(convert) : value);
  }
  if (def.type === 'record' && def.valueType) {
    const convert = bodyValue(unwrap(def.valueType).inner);
    if (convert === identity) return identity;
    return (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, convert(part)]))
        : value;
  }
  return scalar(def);
}

/** Converts a parsed JSON body for its schema. */
export function tolerantBody(schema: z.ZodType): Tolerant {
  return bodyValue(unwrap(schema).inner);
}
