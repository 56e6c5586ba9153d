import type { z } from 'zod';

/**
 * What clients send that a strict schema would refuse (contract: commerce.md 3): empty strings for unset numbers, dates
 * and query values, null for absent fields, numbers and booleans as text. The schema stays plain, so the document says
 * what is meant; this brings the input into its form first. What it cannot read it leaves for the schema to refuse.
 */
export type Tolerant = (value: unknown) => unknown;

type Def = {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  shape?: Record<string, z.ZodType>;
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

/** Decimal notation without exponent: other forms are more often a mistake than a number. */
const decimal = /^[+-]?\d+(\.\d+)?$/;
/** Longer texts are not read: no number of the API needs more. */
const maxNumberText = 64;

/** The types that a schema takes, those of a union's options and of literals among them; null is left out. */
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

/** Reads a number or a boolean out of a text, where the schema takes nothing else; all other schemas keep what is sent. */
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
  // "false" means not set.
  if (inner.type === 'boolean') return (value) => (value === '' ? undefined : read(value) || undefined);
  return (value) => (value === '' ? undefined : read(value));
}

/** Brings query values (all text) into the form of an object schema; repeated names: the last one counts. */
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

/** Path parameters are never absent: an empty or wrong one is left for the schema to refuse. */
export function tolerantParams(schema: z.ZodType): (params: Record<string, string>) => Record<string, unknown> {
  const shape = unwrap(schema).inner.shape ?? {};
  const fields = Object.entries(shape).map(([name, field]) => [name, unwrap(field).inner.type] as const);
  return (params) => {
    const out: Record<string, unknown> = {};
    for (const [name, type] of fields) {
      const value = params[name];
      out[name] = type === 'number' && value !== undefined && decimal.test(value) ? Number(value) : value;
    }
    return out;
  };
}

const zeros = new WeakSet<z.ZodType>();
/** Marks a number field of a body whose empty string means 0, for where leaving it out means "as it is". */
export function zeroWhenEmpty<S extends z.ZodType>(schema: S): S {
  zeros.add(schema);
  return schema;
}

/** Whether "" can only stand for nothing there: numbers, dates, choices, and unions of these such as 0 | 1. */
function emptyIsAbsentIn(def: Def): boolean {
  if (def.type === 'union') return def.options!.every((option) => emptyIsAbsentIn(unwrap(option).inner));
  if (def.type === 'literal') return !def.values!.includes('');
  return ['number', 'boolean', 'date', 'enum'].includes(def.type) || def.format === 'datetime';
}

function bodyField(schema: z.ZodType): Tolerant {
  const { inner, nullable } = unwrap(schema);
  const deep = bodyValue(inner);
  const emptyIsAbsent = emptyIsAbsentIn(inner);
  return (value) => {
    if (value === null) return nullable ? null : undefined;
    if (value === '' && emptyIsAbsent) return nullable ? null : zeros.has(schema) ? 0 : undefined;
    return deep(value);
  };
}

function bodyValue(def: Def): Tolerant {
  if (def.type === 'object' && def.shape) {
    const fields = Object.entries(def.shape).map(([name, field]) => [name, bodyField(field)] as const);
    return (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      const source = value as Record<string, unknown>;
      const out: Record<string, unknown> = {};
      for (const [name, convert] of fields) {
        if (!Object.hasOwn(source, name)) continue;
        const converted = convert(source[name]);
        if (converted !== undefined) out[name] = converted;
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

/** Brings a parsed JSON body into the form of its schema. */
export function tolerantBody(schema: z.ZodType): Tolerant {
  return bodyValue(unwrap(schema).inner);
}
