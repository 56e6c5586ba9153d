/** Bodies of this size that would take the parser as long as possible. Each is refused for its shape. */
export function hostileBodies(bytes: number): Record<string, Buffer> {
  const list = (part: string) => {
    const head = '{"model":"gpt","messages":[';
    const parts = Math.floor((bytes - head.length - 4) / (part.length + 1));
    return Buffer.from(`${head}${`${part},`.repeat(parts)}0]}`);
  };
  const names = (part: (n: number) => string, before: string, after: string) => {
    const all: string[] = [];
    for (let n = 0, size = 0; size < bytes - 100; n += 1) {
      const next = part(n);
      all.push(next);
      size += next.length + 1;
    }
    return Buffer.from(`{"model":"gpt","messages":${before}${all.join()}${after}}`);
  };
  return {
    numbers: list('1'),
    literals: list('1,null'),
    texts: list('""'),
    'escaped texts': list('"\\u0041"'),
    objects: list('{}'),
    'parts of a message': list('{"type":"text","text":"a"}'),
    names: names((n) => `"k${n}":1`, '{', '}'),
    'repeated names': list('{"a":1,"a":2,"a":3}'),
    'names of many objects': names((n) => `{"k${n}":1}`, '[', ']'),
    'names in any order': names(
      (n) => `{${[0, 1, 2, 3, 4, 5, 6, 7].map((i) => `"n${(n * 7919 * (i + 1)) % 997}_${i}":1`).join()}}`,
      '[',
      ']',
    ),
  };
}

/** Bodies of this size that are expensive to parse and within the bounds. */
export function costlyBodies(bytes: number): Record<string, Buffer> {
  const wrap = (inside: string) => {
    const json = `{"model":"gpt","messages":[${inside}]`;
    return Buffer.from(`${json}${' '.repeat(Math.max(0, bytes - Buffer.byteLength(json) - 1))}}`);
  };
  const chat = JSON.stringify({ role: 'user', content: 'Hello there, how are you?' });
  return {
    'a million numbers': wrap('12,'.repeat(1_000_000).slice(0, -1)),
    '150,000 texts': wrap(Array.from({ length: 150_000 }, (_, n) => `"t${n}"`).join()),
    '30,000 names': wrap(Array.from({ length: 30_000 }, (_, n) => `{"k${n}":1}`).join()),
    '40,000 messages': wrap(`${chat},`.repeat(40_000).slice(0, -1)),
    'one long text': wrap(`"${'\u4e2d\\n'.repeat(Math.floor((bytes - 60) / 5))}"`),
  };
}
