import type { Route } from '@tradepost/http';

/** The part of JSON Schema that request schemas use. */
export type Json = {
  type?: string;
  properties?: Record<string, Json>;
  required?: string[];
  items?: Json;
  anyOf?: Json[];
  oneOf?: Json[];
  additionalProperties?: Json | boolean;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  maxLength?: number;
  minimum?: number;
  [key: string]: unknown;
};
export type Field = { path: (string | number)[]; name: string; schema: Json; required: boolean };

type Schema = NonNullable<Route['body']>;
const inputSchemas = new WeakMap<Schema, Json>();
/** The JSON schema of an input, made once. It must not be changed. */
export function inputSchema(schema: Schema): Json {
  let made = inputSchemas.get(schema);
  if (!made) {
    made = schema.toJSONSchema({ io: 'input', unrepresentable: 'any' }) as Json;
    inputSchemas.set(schema, made);
  }
  return made;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy of `base` with the fields of `over`. Objects are merged at every depth. */
function merged(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  return {
    ...base,
    ...Object.fromEntries(Object.entries(over).map(([name, value]) => [name, merged(base[name], value)])),
  };
}

/** A valid value, made of examples and defaults. Every property is present, so that a test can replace each one. */
export function valid(schema: Json): unknown {
  const { examples, ...plain } = schema;
  if (examples?.length) return schema.properties ? merged(valid(plain), examples[0]) : examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  const option = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (option) return valid(option);
  if (schema.type === 'object')
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, part]) => [name, valid(part)]));
  if (schema.type === 'array') return schema.items ? [valid(schema.items)] : [];
  if (schema.type === 'integer' || schema.type === 'number') return schema.default ?? Math.max(1, schema.minimum ?? 1);
  if (schema.type === 'boolean') return false;
  if (schema.type === 'string') return schema.default || 'text';
  return {};
}

/** Every field of an object or list schema, at any depth. For a list these are the fields of its first element. */
export function fieldsOf(schema: Json, at: (string | number)[] = []): Field[] {
  if (schema.items) {
    const path = [...at, 0];
    // An element that is not an object has the name of its list.
    const name = String(at.at(-1) ?? '[0]');
    const element: Field[] = schema.items.properties ? [] : [{ path, name, schema: schema.items, required: false }];
    return [...element, ...fieldsOf(schema.items, path)];
  }
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const path = [...at, name];
    return [
      { path, name, schema: part, required: required.has(name) && part.default === undefined },
      ...fieldsOf(part, path),
    ];
  });
}

/** A copy of `value` with `put` at the path; `undefined` removes it. Missing objects and lists on the path are created. */
export function withAt(value: unknown, path: readonly (string | number)[], put: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return put;
  const copy = (
    typeof first === 'number' ? [...(Array.isArray(value) ? value : [])] : { ...(value as object) }
  ) as Record<string | number, unknown>;
  copy[first] = withAt(copy[first], rest, put);
  return copy;
}

/** The JSON text of an object with this depth. */
export function deep(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

/** The kinds of JSON values that a schema accepts. Empty when it accepts every value. */
export function kindsOf(schema: Json): Set<string> {
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return new Set(options.flatMap((option) => [...kindsOf(option)]));
  if (schema.const !== undefined) return new Set([typeof schema.const]);
  if (schema.enum) return new Set(schema.enum.map((value) => typeof value));
  if (!schema.type) return new Set();
  return new Set([schema.type === 'integer' ? 'number' : schema.type]);
}

/** Values of a kind that the schema refuses, with a description. Null and "" are left out: they mean an absent field. */
export function wrongKinds(schema: Json): [string, unknown][] {
  const kinds = kindsOf(schema);
  if (kinds.size === 0) return [];
  const candidates: [string, string, unknown][] = [
    ['string', 'text', 'wrong'],
    ['number', 'a number', 12_345.678],
    ['boolean', 'true', true],
    ['object', 'an object', { a: 1 }],
    ['array', 'an array', [[1]]],
  ];
  const wrong = candidates
    .filter(([kind]) => !kinds.has(kind))
    .map(([, description, value]): [string, unknown] => [description, value]);
  if (schema.type === 'integer') wrong.push(['a fraction', 1.5]);
  return wrong;
}

/** Texts that are not accepted as a number. */
export const notNumbers = [
  'NaN',
  'Infinity',
  '-Infinity',
  '1e3',
  '0x10',
  '1e308',
  `1${'0'.repeat(400)}`,
  '9007199254740993',
  'null',
  'true',
  '１２',
  '1,000',
  ' 1 x',
  '--1',
  '1.',
  '.5',
];
export const huge = [
  2 ** 53,
  -(2 ** 53),
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 31,
  -(2 ** 31) - 1,
  1e-320,
  -0,
  0.1 + 0.2,
];
/** Texts that often cause faults in databases, encoders and templates. */
export const nastyTexts = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udc00b',
  '\ufffe\uffff',
  '\u202e\u2066',
  "'; drop table x; --",
  '{{7*7}}#{7*7}',
  '%s%n%x',
  '\\',
  '"',
  '{0}',
  '../../etc/passwd',
  '🛒'.repeat(10),
  'é'.normalize('NFD'),
  '\r\nSet-Cookie: a=b',
  '<script>alert(1)</script>',
  '{reason}',
  '{trace}',
  '__proto__',
  'constructor',
  '\u001f\u007f',
];

export const label = (route: Route) => `${route.method} ${route.path}`;
