/** JSON texts that are cheap to send and expensive to parse. Each has about the requested number of bytes. */
const fill = (unit: string, bytes: number) => unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))));
const list = (unit: string, bytes: number) => `[${fill(`${unit},`, bytes - unit.length)}${unit}]`;

export type Shape = { name: string; value(bytes: number): string };

export const shapes: readonly Shape[] = [
  { name: 'numbers', value: (bytes) => list('1', bytes) },
  { name: 'fractions', value: (bytes) => list('-1.5e-300', bytes) },
  { name: 'literals', value: (bytes) => list('null', bytes) },
  { name: 'empty texts', value: (bytes) => list('""', bytes) },
  { name: 'empty lists', value: (bytes) => list('[]', bytes) },
  { name: 'nested lists', value: (bytes) => `${fill('[', bytes / 2)}${fill(']', bytes / 2)}` },
  { name: 'nested objects', value: (bytes) => `${fill('{"a":', (bytes * 5) / 6)}1${fill('}', bytes / 6)}` },
  { name: 'open lists', value: (bytes) => fill('[', bytes) },
  { name: 'escapes', value: (bytes) => `"${fill('\\u0041', bytes)}"` },
  { name: 'surrogates', value: (bytes) => `"${fill('\\ud83d', bytes)}"` },
  { name: 'backslashes', value: (bytes) => `"${fill('\\\\', bytes)}"` },
  { name: 'one key again and again', value: (bytes) => `{${fill('"a":1,', bytes)}"a":1}` },
  {
    name: 'many keys',
    value(bytes) {
      const keys = Array.from({ length: Math.floor(bytes / 13) }, (_, index) => `"k${index}":1`);
      return `{${keys.join(',')}}`;
    },
  },
  { name: 'a key of all its bytes', value: (bytes) => `{"${fill('k', bytes)}":1}` },
  { name: 'one number of all its bytes', value: (bytes) => fill('7', bytes) },
  { name: 'blanks', value: (bytes) => `${fill(' \n', bytes)}1` },
  { name: 'the prototype', value: (bytes) => `{"__proto__":{"polluted":${list('1', bytes)}}}` },
];
