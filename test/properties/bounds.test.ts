import type { Route } from '@tradepost/http';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonSchema } from '../../packages/http/openapi/example.ts';

/** Requests and answers have a maximum size. The tests use all routes, so new routes are included. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ only: ['api', 'gateway'], gatewayPort: 0 });
});
afterAll(() => shop?.close());

type Visit = (schema: JsonSchema, at: string) => void;

/** Visits every part of a schema once, with its path. `$ref` is resolved. */
function walk(root: Route['response'], io: 'input' | 'output', visit: Visit): void {
  const schema = root.toJSONSchema({ io, unrepresentable: 'any' }) as JsonSchema & {
    $defs?: Record<string, JsonSchema>;
  };
  const seen = new Set<JsonSchema>();
  const step = (part: JsonSchema | undefined, at: string): void => {
    if (!part || typeof part !== 'object' || seen.has(part)) return;
    seen.add(part);
    if (part.$ref) step(schema.$defs?.[part.$ref.replace('#/$defs/', '')], at);
    else visit(part, at);
    for (const [name, property] of Object.entries(part.properties ?? {})) step(property, `${at}.${name}`);
    step(part.items, `${at}[]`);
    step(part.additionalProperties as JsonSchema | undefined, `${at}{}`);
    for (const option of [...(part.anyOf ?? []), ...(part.oneOf ?? []), ...(part.allOf ?? [])]) step(option, at);
  };
  step(schema, '');
}

const name = ({ method, path }: Route) => `${method} ${path}`;

test('every list of an answer has a maximum number of entries', () => {
  const unbounded: string[] = [];
  for (const route of shop.server.routes)
    walk(route.response, 'output', (schema, at) => {
      if (schema.type === 'array' && schema.maxItems === undefined) unbounded.push(`${name(route)} data${at}`);
    });
  expect(unbounded).toEqual([]);
});

test('every list, text and free-form object of a request has a maximum size', () => {
  const unbounded: string[] = [];
  for (const route of shop.server.routes)
    for (const [part, schema] of Object.entries({ path: route.params, query: route.query, body: route.body }))
      if (schema)
        walk(schema, 'input', (node, at) => {
          const types = [node.type].flat();
          const fixed = node.enum !== undefined || node.const !== undefined;
          if (types.includes('array') && node.maxItems === undefined)
            unbounded.push(`${name(route)} ${part}${at}: list`);
          if (types.includes('string') && !fixed && node.maxLength === undefined && node.format !== 'uuid')
            unbounded.push(`${name(route)} ${part}${at}: text`);
          const isFreeForm = node.additionalProperties !== undefined && node.additionalProperties !== false;
          if (isFreeForm && node.maxProperties === undefined) unbounded.push(`${name(route)} ${part}${at}: object`);
        });
  expect(unbounded).toEqual([]);
});
