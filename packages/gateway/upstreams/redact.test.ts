import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openRedactor, secretsOf } from './redact.ts';
import { upstreamSettings } from './upstream-settings.ts';

/** Clients never receive the keys of upstreams. */
const key = 'sk-proj-Ab3/+dE"f_gHiJkLmNoPqRsTuVwXyZ';
const other = 'second-key-0123456789';
const redactor = openRedactor([key, other]);

function throughStream(text: string, ...cuts: number[]): string {
  const bytes = Buffer.from(text);
  const stream = redactor.stream();
  const out: Uint8Array[] = [];
  let from = 0;
  for (const cut of [...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    out.push(stream.push(bytes.subarray(from, cut)));
    from = cut;
  }
  out.push(stream.end());
  return Buffer.concat(out).toString();
}

test.each([
  ['as it is', (k: string) => k],
  ['in JSON', (k: string) => JSON.stringify(k).slice(1, -1)],
  ['in JSON with escaped slashes', (k: string) => JSON.stringify(k).slice(1, -1).replaceAll('/', '\\/')],
  ['percent-encoded', encodeURIComponent],
  ['in base64', (k: string) => Buffer.from(k).toString('base64')],
  ['in base64 behind a user', (k: string) => Buffer.from(`user:${k}`).toString('base64')],
  ['in base64 among other bytes', (k: string) => Buffer.from(`ab${k}!?`).toString('base64url')],
  ['without its end', (k: string) => k.slice(0, 14)],
  ['without its beginning', (k: string) => k.slice(-12)],
  ['masked, with both ends', (k: string) => `${k.slice(0, 7)}********${k.slice(-4)}`],
  ['masked, with its end', (k: string) => `...${k.slice(-4)}`],
  ['masked, with its beginning', (k: string) => `${k.slice(0, 12)}…`],
  ['masked by x', (k: string) => `${k.slice(0, 3)}xxxxxx${k.slice(-4)}`],
])('a key %s is removed from an error', (_title, form) => {
  for (const secret of [key, other]) {
    const shown = form(secret);
    const said = redactor.message(`Incorrect API key provided: ${shown}. See the page of keys.`);
    // Base64 within other bytes. Its first and last characters depend on those bytes as well.
    const bare = shown.replace(/[*.…x]+/g, '');
    expect(said).not.toContain(_title.includes('base64') ? bare.slice(4, -5) : bare.slice(-4));
    expect(said).toMatch(/^Incorrect API key provided: .*\[redacted\].*\. See the page of keys\.$/);
  }
});

test('an error loses the key alone: fields, numbers and other texts stay', () => {
  const error = { error: { message: `bad key ${key}`, type: 'x', code: null, [other]: [1, `${key} ${key}`] } };
  const clean = redactor.errorBody(Buffer.from(JSON.stringify(error)));
  expect(JSON.parse(clean.toString())).toEqual({
    error: { message: 'bad key [redacted]', type: 'x', code: null, '[redacted]': [1, '[redacted] [redacted]'] },
  });
  // All ways to write a character in JSON.
  const escaped = `{"error":"${Array.from(key, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`;
  expect(redactor.errorBody(Buffer.from(escaped)).toString()).toBe('{"error":"[redacted]"}');
  expect(redactor.errorBody(Buffer.from(`<h1>${key}</h1>`)).toString()).toBe('<h1>[redacted]</h1>');
  const harmless = Buffer.from('{ "error": "Rate limit... 1.50e1", "n": 1.50e1, "sk": "sk-" }');
  expect(redactor.errorBody(harmless)).toBe(harmless);
});

describe('bytes in chunks', () => {
  test('a key is removed wherever it is split', () => {
    const text = `data: {"é":"${JSON.stringify(key).slice(1, -1)}"}\n\ndata: ${other}\n\n`;
    const clean = 'data: {"é":"[redacted]"}\n\ndata: [redacted]\n\n';
    for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1) expect(throughStream(text, cut)).toBe(clean);
    expect(throughStream(text, ...Array.from({ length: 200 }, (_, i) => i))).toBe(clean);
  });

  test('all other bytes are unchanged, however they are split', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('sk-proj', key.slice(0, -1), 'second-', '\n'),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(500)), (pieces, cuts) => {
        const text = pieces.join('').toWellFormed();
        fc.pre(!text.includes(key) && !text.includes(other));
        expect(throughStream(text, ...cuts)).toBe(text);
      }),
    );
  });

  test('the end of an event is not held back, and a chunk without a key is not copied', () => {
    const stream = redactor.stream();
    const chunk = Buffer.from('data: {"choices":[]}\n\n');
    expect(stream.push(chunk)).toMatchObject({
      buffer: chunk.buffer,
      byteOffset: chunk.byteOffset,
      length: chunk.length,
    });
    expect(stream.push(Buffer.from('data: sk-pro')).length).toBe('data: '.length);
  });
});

test('secrets are the keys of all upstreams and headers with such names, not placeholders and versions', () => {
  process.env.TEST_REDACT_KEY = 'from-the-environment';
  const at = { base_url: 'https://api.example.com/v1' };
  const upstreams = upstreamSettings.upstreams.schema.parse([
    {
      ...at,
      name: 'a',
      api_key: 'sk-one-one-one',
      headers: { 'X-Api-Key': 'header-secret', 'api-version': '2024-06-01' },
    },
    { ...at, name: 'b', api_key: 'env:TEST_REDACT_KEY', enabled: false },
    { ...at, name: 'c', api_key: 'EMPTY', headers: { 'proxy-authorization': 'Basic dXNlcjpwYXNzd29yZA==' } },
  ]);
  expect(secretsOf(upstreams).sort()).toEqual([
    'dXNlcjpwYXNzd29yZA==',
    'from-the-environment',
    'header-secret',
    'sk-one-one-one',
  ]);
  delete process.env.TEST_REDACT_KEY;
});
