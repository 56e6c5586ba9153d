import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withModel } from './json-model.ts';

const replaced = (json: string, model = 'new') => withModel(Buffer.from(json), model).toString();

test('only the value of the top-level model changes', () => {
  for (const [before, after] of [
    ['{"model":"a"}', '{"model":"new"}'],
    [' {\n "model"\t: "a\\"b" ,"x":1 } ', ' {\n "model"\t: "new" ,"x":1 } '],
    [
      '{"a":{"model":"in"},"b":["model",{"model":1}],"model":"a"}',
      '{"a":{"model":"in"},"b":["model",{"model":1}],"model":"new"}',
    ],
    ['{"s":"\\"model\\":\\"x\\\\","model":"a"}', '{"s":"\\"model\\":\\"x\\\\","model":"new"}'],
    [
      '{"n":-1.5e3,"t":true,"z":null,"model":"a","e":{},"l":[]}',
      '{"n":-1.5e3,"t":true,"z":null,"model":"new","e":{},"l":[]}',
    ],
    // Parsers differ in which of several values they use.
    ['{"model":"a","x":1,"model":"b"}', '{"model":"new","x":1,"model":"new"}'],
    ['{"mod\\u0065l":"a"}', '{"mod\\u0065l":"new"}'],
    ['{"é":"模型","model":"a","😀":"model"}', '{"é":"模型","model":"new","😀":"model"}'],
    ['{"model":{"deep":["}"]},"x":1}', '{"model":"new","x":1}'],
    ['{"x":1}', '{"x":1}'],
    ['{}', '{}'],
  ] as const)
    expect(replaced(before)).toBe(after);
  expect(replaced('{"model":"a"}', 'q"\n')).toBe('{"model":"q\\"\\n"}');
});

test('any object keeps its other fields', () => {
  // Long texts are scanned in another way than short ones. These are full of quotes and backslashes.
  const escaped = fc
    .tuple(
      fc.constantFrom('', 'x'.repeat(60), 'y'.repeat(63)),
      fc.array(fc.constantFrom('"', '\\', 'a', 'é'), { maxLength: 90 }),
    )
    .map(([before, parts]) => before + parts.join(''));
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.string(), escaped), fc.oneof(fc.jsonValue(), escaped)),
      fc.nat(3),
      fc.string(),
      (fields, indent, model) => {
        const json = JSON.stringify({ ...fields, model: 'old' }, null, indent);
        const expected = JSON.parse(json);
        expected.model = model;
        expect(JSON.parse(replaced(json, model))).toEqual(expected);
      },
    ),
  );
});
