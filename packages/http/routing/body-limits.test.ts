import { expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../openapi/openapi.ts';
import { openBodyLimits } from './body-limits.ts';
import { type Auth, defineRoute } from './route.ts';

const route = (method: 'POST' | 'PUT', path: string, auth: Auth, bodyLimit?: number) =>
  defineRoute({
    ...{ method, path, auth, tag: 'Test', summary: path, body: z.object({}), response: z.null() },
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    handle: () => null,
  });
const routes = [
  route('PUT', '/things/:id', 'staff', 300_000),
  route('PUT', '/things/batch', 'staff', 1_000_000),
  route('POST', '/things', 'shopper'),
  route('POST', '/login', 'public'),
  route('POST', '/notice', 'public', 20_000),
  route('POST', '/tiny', 'shopper', 100),
];

test('the smallest body limit is for callers without a token; a route that needs more declares it', () => {
  const limitOf = openBodyLimits(routes);
  expect(limitOf('POST', '/login')).toBe(16_384);
  expect(limitOf('POST', '/notice')).toBe(20_000);
  expect(limitOf('POST', '/things')).toBe(65_536);
  expect(limitOf('PUT', '/things/7')).toBe(300_000);
  expect(limitOf('PUT', '/things/batch')).toBe(1_000_000);
  expect(limitOf('POST', '/tiny')).toBe(16_384);
  for (const [method, path] of [
    ['POST', '/nowhere'],
    ['DELETE', '/things'],
    ['PUT', '/things/7/parts'],
    ['PUT', '/'.repeat(10_000)],
    ['PUT', ''],
  ] as const)
    expect(limitOf(method, path)).toBe(16_384);
});

test('the document states the body limit of each route', () => {
  const { paths } = openApiDocument(routes, [], 'test') as { paths: Record<string, Record<string, object>> };
  expect(paths['/things/batch']?.put).toMatchObject({ 'x-body-limit': 1_000_000 });
  expect(paths['/login']?.post).toMatchObject({ 'x-body-limit': 16_384 });
});
