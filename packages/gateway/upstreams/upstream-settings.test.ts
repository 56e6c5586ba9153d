import { expect, test } from 'vitest';
import { fitsPattern } from './served-models.ts';
import { modelLimits, upstreamSettings } from './upstream-settings.ts';

const upstream = { name: 'main', base_url: 'https://api.example.com/v1' };

test('the message of a refused setting begins with the path of the field', () => {
  const refuse = (value: unknown) => {
    const parsed = upstreamSettings.upstreams.schema.safeParse(value);
    return parsed.success ? 'accepted' : parsed.error.issues.map(({ message }) => message).join('; ');
  };
  expect(refuse([upstream])).toBe('accepted');
  for (const [value, said] of [
    [{}, 'must be a list'],
    [[{ ...upstream, name: 'Main' }], '[0].name: '],
    [[upstream, { ...upstream, name: 'b', base_url: 'ftp://x' }], '[1].base_url: must begin with http'],
    [[{ ...upstream, base_url: 'https://x/v1?a=b' }], '[0].base_url: must not have a query'],
    [[{ ...upstream, base_url: 'https://u:p@x/v1' }], '[0].base_url: must not hold a user'],
    [[{ ...upstream, api_key: 'env:' }], '[0].api_key: env: must be followed'],
    [[{ ...upstream, api_key: 'a b' }], '[0].api_key: '],
    [[{ ...upstream, models: [] }], '[0].models: must name'],
    [[{ ...upstream, idle_timeout_ms: 0.5 }], '[0].idle_timeout_ms: must be a whole number'],
    [[{ ...upstream, headers: { Authorization: 'x' } }], '[0].headers: must not hold'],
    [[{ ...upstream, headers: { 'x-a': 'b\r\nc: d' } }], '[0].headers.x-a: '],
    [[{ ...upstream, prority: 1 }], '[0]: Unrecognized key: "prority"'],
    [[upstream, upstream], '[1].name: main is there twice'],
    [[{ ...upstream, models: ['GPT-4', 'a', 'gpt-4 '] }], '[0].models[2]: gpt-4  and GPT-4 are the same model'],
    [[{ ...upstream, models: [' '] }], '[0].models[0]: '],
    [[{ ...upstream, models: ['a\u200bb'] }], '[0].models[0]: '],
  ] as const)
    expect(refuse(value)).toContain(said);
  const models = upstreamSettings.models.schema.safeParse({ fast: { rpm_limit: -1 } });
  expect(models.error!.issues.map(({ message }) => message)).toEqual(['fast.rpm_limit: must be at least 0']);
  const same = upstreamSettings.models.schema.safeParse({ fast: {}, 'FAST/': {} });
  expect(same.error!.issues.map(({ message }) => message)).toEqual(['FAST/: FAST/ and fast are the same model']);
});

test('limits of a model: 0 is unlimited, an absent limit is inherited', () => {
  const models = upstreamSettings.models.schema.parse({ a: { rpm_limit: 5 }, b: { tpm_limit: 0 }, c: {} });
  const settings = { get: () => models } as never;
  expect(modelLimits(settings, 'a')).toEqual({ rpm: 5, tpm: null });
  expect(modelLimits(settings, 'b')).toEqual({ rpm: null, tpm: 0 });
  const upper = { get: () => upstreamSettings.models.schema.parse({ 'GPT-4 ': { rpm_limit: 5 } }) } as never;
  expect(modelLimits(upper, 'gpt-4')).toEqual({ rpm: 5, tpm: null });
  for (const name of ['c', 'd', 'constructor', '__proto__'])
    expect(modelLimits(settings, name)).toEqual({ rpm: null, tpm: null });
});

test('patterns', () => {
  for (const [pattern, fits, not] of [
    ['*', ['a', ''], []],
    ['gpt-*', ['gpt-', 'gpt-4o'], ['xgpt-4', 'gpt']],
    ['*/qwen*-7b', ['a/qwen-7b', 'a/qwen2.5-7b'], ['qwen-7b', 'a/qwen-70b']],
    ['a*a', ['aa', 'aba'], ['a', 'ab']],
    ['a.c', ['a.c'], ['abc']],
  ] as const) {
    for (const name of fits) expect(fitsPattern(pattern, name), `${pattern} ${name}`).toBe(true);
    for (const name of not) expect(fitsPattern(pattern, name), `${pattern} ${name}`).toBe(false);
  }
});
