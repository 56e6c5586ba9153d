import fc from 'fast-check';
import { deep, type Field, fieldsOf, huge, type Json, kindsOf, nastyTexts, notNumbers, withAt } from './inputs.ts';

/**
 * Arbitraries made of the schemas of a route: valid values, values with one invalid field, and arbitrary input. Bodies are
 * JSON text, because some values exist only there (1e400, a repeated key).
 */
const rawMark = '\u0001raw:';
/** A marked text: `jsonText` writes it without quotes. */
const raw = (text: string) => `${rawMark}${text}`;
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.replace(/"\\u0001raw:((?:[^"\\]|\\.)*)"/g, (_, inner: string) => JSON.parse(`"${inner}"`));
}

const long = ['x'.repeat(10_000), '\u202e'.repeat(10_000), '🛒'.repeat(5_000), '9'.repeat(400)];
const rawNumbers = ['1e400', '-1e400', '-0', '1E5', '0.1e-320', '9007199254740993', '12345678901234567890', '1.0'];
/** As the unit `binary` of fast-check, which builds a table of a million characters to shrink texts. */
const anyCharacter = fc.nat({ max: 0x10_ffff - 0x800 }).map(
  (n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800),
  (text) => {
    const code = (text as string).codePointAt(0)!;
    return code < 0xd800 ? code : code - 0x800;
  },
);
const oddTexts: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...nastyTexts, ...notNumbers, ...long),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('\u0000', '\ud800', '\udfff', '\u202e', 'é', '%', "'", '"', '\\', '\n') }),
);
const oddValues: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: oddTexts },
  { weight: 3, arbitrary: fc.constantFrom(...huge, 0, -1, 1.5, true, false, null) },
  { weight: 2, arbitrary: fc.constantFrom(...rawNumbers).map(raw) },
  { weight: 1, arbitrary: fc.constantFrom(deep(500), `${'['.repeat(500)}${']'.repeat(500)}`).map(raw) },
  { weight: 1, arbitrary: fc.constant(raw('{"a":1,"a":2,"__proto__":{"x":1}}')) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(null, 1, 'a', {}), { minLength: 1_000, maxLength: 1_100 }) },
);

/** Values that a schema accepts. Number fields get small numbers, limits of the schema and `ids`. */
export function validValues(schema: Json, ids: readonly number[]): fc.Arbitrary<unknown> {
  const examples = schema.examples?.length ? [fc.constantFrom(...schema.examples)] : [];
  const or = (arbitrary: fc.Arbitrary<unknown>) => fc.oneof(...examples, arbitrary);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum?.length) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options?.length) return or(fc.oneof(...options.map((option) => validValues(option, ids))));
  if (schema.type === 'object' && schema.properties) {
    const required = (schema.required ?? []) as never[];
    const fields = Object.entries(schema.properties).map(([name, part]) => [name, validValues(part, ids)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: required });
  }
  if (schema.type === 'array')
    return or(
      fc.array(validValues(schema.items ?? {}, ids), { minLength: (schema.minItems as number) ?? 0, maxLength: 4 }),
    );
  if (schema.type === 'integer' || schema.type === 'number') {
    const min = Math.ceil(Math.max(schema.minimum ?? -1_000, Number.MIN_SAFE_INTEGER));
    const max = Math.floor(Math.min((schema.maximum as number) ?? 1_000_000, Number.MAX_SAFE_INTEGER));
    const allowedIds = ids.filter((id) => id >= min && id <= max);
    const numbers = fc.integer({ min: Math.min(min, max), max: Math.min(Math.max(min, 1_000_000), max) });
    return or(
      fc.oneof(numbers, fc.constantFrom(min, max), ...(allowedIds.length > 0 ? [fc.constantFrom(...allowedIds)] : [])),
    );
  }
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'string') {
    const maxLength = Math.min((schema.maxLength as number) ?? 50, 50);
    const text = fc.string({
      unit: 'grapheme',
      minLength: Math.min((schema.minLength as number) ?? 0, maxLength),
      maxLength,
    });
    return or(schema.pattern || schema.format ? (examples[0] ?? text) : text);
  }
  return fc.jsonValue({ maxDepth: 2 });
}

/** Values that the schema of a field always refuses. Null and "" are not among them, because they mean an absent field. */
function invalidValues(schema: Json, as: 'json' | 'text'): fc.Arbitrary<unknown>[] {
  const kinds = kindsOf(schema);
  if (kinds.size === 0) return [];
  const values: fc.Arbitrary<unknown>[] = [];
  // A field that also takes booleans accepts the text of one.
  const notNumber = notNumbers.filter((text) => !(kinds.has('boolean') && text === 'true'));
  const noNumber = fc.constantFrom(...notNumber, 'wrong', '[]', '{}', '1.5x', '0b1', '٣', '1_000', 'undefined');
  if (as === 'text') return kinds.has('number') && !kinds.has('string') ? [noNumber] : [];
  if (!kinds.has('object')) values.push(fc.dictionary(fc.string({ maxLength: 5 }), fc.integer(), { maxKeys: 3 }));
  if (!kinds.has('array')) values.push(fc.array(fc.integer(), { maxLength: 3 }));
  if (!kinds.has('boolean')) values.push(fc.boolean());
  if (!kinds.has('number')) values.push(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
  if (!kinds.has('string')) values.push(kinds.has('number') ? noNumber : fc.constantFrom('wrong', 'NaN', ' '));
  if (schema.type === 'integer')
    values.push(fc.constantFrom(1.5, -0.1, raw('1e400'), raw('-1e400'), 2 ** 53, -(2 ** 60)));
  if (schema.type === 'number') values.push(fc.constantFrom(raw('1e400'), raw('-1e400')));
  if (typeof schema.minimum === 'number' && schema.minimum > Number.MIN_SAFE_INTEGER)
    values.push(fc.constant(schema.minimum - 1));
  if (typeof schema.maximum === 'number' && schema.maximum < Number.MAX_SAFE_INTEGER)
    values.push(fc.constant(schema.maximum + 1));
  if (typeof schema.maxLength === 'number') values.push(fc.constant('x'.repeat(schema.maxLength + 1)));
  return values;
}

type InvalidField = { field: Field; value: unknown };
/** One field of an object schema and a value that it refuses. Undefined when no field can be invalid. */
export function oneInvalidField(schema: Json, as: 'json' | 'text'): fc.Arbitrary<InvalidField> | undefined {
  const fields = fieldsOf(schema).flatMap((field) => {
    const values = invalidValues(field.schema, as);
    // `undefined` removes a required field.
    if (as === 'json' && field.required) values.push(fc.constant(undefined));
    return values.length > 0 ? [fc.record({ field: fc.constant(field), value: fc.oneof(...values) })] : [];
  });
  return fields.length > 0 ? fc.oneof(...fields) : undefined;
}

/** The text of a body: a valid value with changed fields, a repeated, wrapped or cut text, or arbitrary text. */
export function oddBody(schema: Json, ids: readonly number[]): fc.Arbitrary<string> {
  const numbers = fc.oneof(fc.constantFrom(...huge, 0, -1, 1.5), fc.constantFrom(...rawNumbers).map(raw));
  const changes = fieldsOf(schema).map(({ path, schema: field }) => {
    const kinds = kindsOf(field);
    const similar = kinds.has('string') || kinds.size === 0 ? oddTexts : kinds.has('number') ? numbers : oddValues;
    const put = fc.oneof(
      { weight: 6, arbitrary: similar },
      { weight: 3, arbitrary: oddValues },
      { weight: 1, arbitrary: fc.constant(undefined) },
    );
    return fc.tuple(fc.constant(path), put);
  });
  // Mostly one change: the first refused field hides the others.
  const change = changes.length > 0 ? fc.oneof(...changes) : fc.tuple(fc.constant<(string | number)[]>([]), oddValues);
  const changedBody = fc
    .tuple(validValues(schema, ids), fc.oneof({ weight: 4, arbitrary: change.map((one) => [one]) }, fc.array(change)))
    .map(([value, replacements]) =>
      jsonText(replacements.reduce<unknown>((body, [path, put]) => withAtSafely(body, path, put), value)),
    );
  const form = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text,
    (text) => text,
    (text) => `[${text}]`,
    (text) => `{"list":${text}}`,
    (text) => text.slice(0, -1),
    (text) => `${text}{}`,
    (text) => `\ufeff${text}`,
    (text) => ` \n\t${text}\u0000`,
    (text) => (text.startsWith('{') && text.length > 2 ? `${text.slice(0, -1)},${text.slice(1)}` : text),
    (text) => (text.startsWith('{') && text.length > 2 ? `{"__proto__":{"polluted":1},"":0,${text.slice(1)}` : text),
  );
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(changedBody, form).map(([text, into]) => into(text)) },
    { weight: 1, arbitrary: oddValues.map(jsonText) },
    { weight: 1, arbitrary: oddTexts },
  );
}

/** As `withAt`. Leaves the value unchanged when an earlier change has replaced an object on the path. */
function withAtSafely(value: unknown, path: readonly (string | number)[], put: unknown): unknown {
  try {
    return withAt(value, path, put);
  } catch {
    return value;
  }
}

const encodings = [
  (text: string) => encodeURIComponent(text.toWellFormed()),
  (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+'),
];
/** A query string with these names, in the forms that client programs send. */
export function oddQuery(names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    fc.constantFrom(...names, 'lang', 'page', 'size', '__proto__', 'constructor', ''),
    oddTexts.map((text) => encodings[0]!(text.slice(0, 20))),
  );
  const value = fc
    .tuple(
      fc.oneof(
        oddTexts.map((text) => text.slice(0, 300)),
        fc.integer().map(String),
      ),
      fc.constantFrom(...encodings),
    )
    .map(([text, encode]) => encode(text).slice(0, 900));
  const pair = fc
    .tuple(name, value, fc.constantFrom('=', '[]=', '[a]=', '[0][b]=', '%5B%5D=', '==', '', '.x='))
    .map(([key, text, between]) => `${key}${between}${between === '' ? '' : text}`);
  const broken = fc.constantFrom('%', '%zz', '&&&', '=', '?a=1', '#', ';', '%00', '%ff%fe', '+');
  return fc
    .array(fc.oneof({ weight: 5, arbitrary: pair }, { weight: 1, arbitrary: broken }), { maxLength: 5 })
    .map((parts) => (parts.length > 0 ? `?${parts.join('&').replaceAll('#', '%23')}` : ''));
}

/** Path segments that are not a usual id. */
export const oddSegments: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '0',
    '-1',
    '1.5',
    '%00',
    '%2F',
    '..%2f..',
    '1;a=b',
    '%F0%9F',
    '%zz',
    '%',
    '１',
    '1%20',
    '1e3',
    '0x10',
  ),
  fc.constantFrom('NaN', '9007199254740993', '1'.repeat(1_000), "1'--", '__proto__', '%E2%80%AE1', 'null', '01', '+1'),
  oddTexts
    .map((text) => encodeURIComponent(text.toWellFormed().slice(0, 200)))
    .filter((text) => !/^\.{0,2}$/.test(text)),
);

/** Values that a header can have: bytes above 31, without 127. Header and query stay below the 16 KB limit of the transports. */
const headerTexts = fc.oneof(
  fc.constantFrom(
    '',
    '*',
    ',',
    ';q=',
    '0',
    'x'.repeat(300),
    'x'.repeat(2_000),
    'a b',
    '\u00ff\u00e9',
    '"',
    '%00',
    '{}',
    'null',
  ),
  fc.string({
    unit: fc
      .integer({ min: 32, max: 255 })
      .filter((code) => code !== 127)
      .map((code) => String.fromCharCode(code)),
    maxLength: 30,
  }),
);
const contentTypes = [
  'application/json',
  'application/json',
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'application/json; charset="',
  'APPLICATION/JSON',
  'application/vnd.api+json',
  'application/jsonx',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'json',
  '/',
  '',
];
const languages = ['en', 'zh-CN', 'zh;q=NaN', 'en-;q=1', '*;q=0', 'xx', 'zh-Hant-TW,zh;q=0.9,en;q=-1', ','.repeat(200)];
/** Idempotency-Keys have few values, so that some are repeated with another body. */
export const oddHeaders: fc.Arbitrary<Record<string, string>> = fc
  .record(
    {
      'content-type': fc.constantFrom(...contentTypes),
      'accept-language': fc.oneof(fc.constantFrom(...languages), headerTexts),
      'idempotency-key': fc.oneof(fc.constantFrom('k1', 'k2', 'k3'), headerTexts),
      'x-request-id': headerTexts,
    },
    { requiredKeys: ['content-type'] },
  )
  .map((headers) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.trim()])));
export const oddAuthorization: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'Bearer',
    'Bearer ',
    'bearer x',
    'Basic YTpi',
    'Bearer a.b.c',
    'Bearer  x  y',
    `Bearer ${'x'.repeat(4_000)}`,
  ),
  headerTexts.map((text) => text.trim()),
);
