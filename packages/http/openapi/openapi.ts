import type { AppError } from '@tradepost/core';
import { z } from 'zod';
import { bodyLimitOf } from '../routing/body-limits.ts';
import { httpErrors } from '../routing/errors.ts';
import type { Resource } from '../routing/resource.ts';
import type { Route } from '../routing/route.ts';
import { exampleOf, type JsonSchema } from './example.ts';

type Components = Record<string, JsonSchema>;

/** Converts `schema` to JSON Schema. Adds the schemas that have an id (`.meta({ id })`) to `components`. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Components): JsonSchema {
  const {
    $schema: _dialect,
    $defs,
    ...body
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema & {
    $defs?: Components;
  };
  const relocate = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(relocate);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, value]) =>
        key === '$ref' && typeof value === 'string'
          ? [key, value.replace('#/$defs/', '#/components/schemas/')]
          : [key, relocate(value)],
      ),
    );
  };
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const { id: _id, ...plain } = definition as JsonSchema & { id?: string };
    components[name] = relocate(plain) as JsonSchema;
  }
  const { id: _id, ...plain } = body as JsonSchema & { id?: string };
  return relocate(plain) as JsonSchema;
}

function envelopeSchema(data: JsonSchema, code: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['code', 'message', 'msg', 'data'],
    properties: {
      code,
      message: { type: 'string' },
      msg: { type: 'string', description: 'repeats message' },
      data,
    },
  };
}

const refusalSchema = envelopeSchema(
  { type: 'null' },
  { type: 'integer', minimum: 1, description: 'the code of the refusal, by a rule of the shop or by the protocol' },
);
const refusalRef = { $ref: '#/components/schemas/Refusal' };

function parametersOf(schema: z.ZodType | undefined, where: 'path' | 'query', components: Components): unknown[] {
  if (!schema) return [];
  const object = schemaOf(schema, 'input', components);
  const required = new Set(object.required ?? []);
  return Object.entries(object.properties ?? {}).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.has(name),
    schema: property,
    example: exampleOf(property as JsonSchema, components),
  }));
}

/**
 * The refusals that the document shows for a route: invalid input and missing permission where they can occur, and the
 * refusals that the route names.
 */
function refusalsOf({ params, query, body, auth, permission, refuses = [] }: Route): AppError[] {
  const hasInput = params !== undefined || query !== undefined || body !== undefined;
  return [
    ...(hasInput ? [httpErrors.invalid_field({ reason: 'name of the field: what is wrong with it' })] : []),
    ...(auth === 'shopper' || auth === 'staff' ? [httpErrors.wrong_account_kind()] : []),
    ...(permission ? [httpErrors.missing_permission({ permission })] : []),
    ...refuses.map((refuse) => refuse()),
  ];
}

/** One example per refusal, under the name of its row in the error table. */
const refusalExamples = (refusals: readonly AppError[]) =>
  Object.fromEntries(
    refusals.map(({ refusalName, code, message }) => [
      refusalName,
      { summary: message, value: { code, message, msg: message, data: null } },
    ]),
  );

/** The responses for refusals with an HTTP status other than 200. */
function refusalResponses(refusals: readonly AppError[]): Record<number, object> {
  const byStatus: Record<number, AppError[]> = {};
  for (const refusal of refusals) {
    const list = byStatus[refusal.status] ?? [];
    list.push(refusal);
    byStatus[refusal.status] = list;
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, list]) => [
      status,
      {
        description: 'A refusal with this HTTP status',
        content: { 'application/json': { schema: refusalRef, examples: refusalExamples(list) } },
      },
    ]),
  );
}

const authText: Record<Route['auth'], string> = {
  public: 'Public.',
  optional: 'Works without a token. With a shopper’s token the answer also has data of this shopper.',
  shopper: 'A shopper’s token.',
  staff: 'An administrator’s token.',
  any: 'A shopper’s or an administrator’s token.',
};

/** The answer of a route with `file`. A refusal by a rule has the envelope. */
function fileResponse(route: Route, byRule: readonly AppError[], components: Components): object {
  const schema = schemaOf(route.response, 'output', components);
  return {
    description:
      'The file, sent while it is made; or a refusal by a rule. A connection that ends early means an incomplete file',
    headers: { 'Content-Disposition': { schema: { type: 'string' }, description: `The name \`${route.file!.name}\`` } },
    content: {
      [route.file!.type.split(';', 1)[0]!]: { schema, example: exampleOf(schema, components) },
      'application/json': { schema: refusalRef, examples: refusalExamples(byRule) },
    },
  };
}

function successResponse(route: Route, byRule: readonly AppError[], components: Components): object {
  if (route.file) return fileResponse(route, byRule, components);
  const data = schemaOf(route.response, 'output', components);
  const example = { code: 0, message: 'success', msg: 'success', data: exampleOf(data, components) };
  return {
    description: 'Success (code 0), or a refusal by a rule (code other than 0, data null)',
    content: {
      'application/json': {
        // Two schemas, so that generated types know that `data` is present when `code` is 0.
        schema: { oneOf: [envelopeSchema(data, { type: 'integer', const: 0 }), refusalRef] },
        examples: { success: { value: example }, ...refusalExamples(byRule) },
      },
    },
  };
}

function operationOf(route: Route, components: Components): Record<string, unknown> {
  const refusals = refusalsOf(route);
  const byRule = refusals.filter(({ status }) => status === 200);
  const faults = refusals.filter(({ status }) => status !== 200);
  const needsToken = route.auth !== 'public' && route.auth !== 'optional';
  // The route has a 401 response of its own, which replaces the shared one: add the refusals of the shared one.
  const unauthorized =
    needsToken && faults.some(({ status }) => status === 401)
      ? [httpErrors.not_logged_in(), httpErrors.invalid_token()]
      : [];
  const body = route.body ? schemaOf(route.body, 'input', components) : null;
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[/:_-]+(\w?)/g, (_, c: string) => c.toUpperCase())}`,
    tags: [route.tag],
    summary: route.summary,
    description: [
      route.description,
      authText[route.auth],
      route.permission ? `Permission \`${route.permission}\`.` : '',
    ]
      .filter(Boolean)
      .join(' '),
    security: route.auth === 'public' ? [] : route.auth === 'optional' ? [{}, { bearer: [] }] : [{ bearer: [] }],
    ...(route.statements === undefined ? {} : { 'x-statements': route.statements }),
    // Without a limit of its own, a streamed route has the one of the configuration.
    ...(body && !(route.bodyStream && !route.bodyLimit) ? { 'x-body-limit': bodyLimitOf(route) } : {}),
    parameters: [
      ...parametersOf(route.params, 'path', components),
      ...parametersOf(route.query, 'query', components),
      { $ref: '#/components/parameters/lang' },
      ...(needsToken && route.method !== 'GET' ? [{ $ref: '#/components/parameters/idempotencyKey' }] : []),
    ],
    ...(body
      ? {
          requestBody: {
            required: (body.required ?? []).length > 0,
            content: {
              [route.bodyStream ? 'multipart/form-data' : 'application/json']: {
                schema: body,
                example: exampleOf(body, components),
              },
            },
          },
        }
      : {}),
    responses: {
      200: successResponse(route, byRule, components),
      ...(route.etag ? { 304: { description: 'If-None-Match has the ETag of the answer' } } : {}),
      ...(needsToken ? { 401: { $ref: '#/components/responses/Unauthorized' } } : {}),
      ...refusalResponses([...unauthorized, ...faults]),
      default: { $ref: '#/components/responses/Fault' },
    },
  };
}

function fault(description: string, code: number, message: string) {
  return {
    description,
    content: {
      'application/json': {
        schema: refusalRef,
        example: { code, message, msg: message, data: null },
      },
    },
  };
}

/** Makes the OpenAPI 3.1 document of a route table. */
export function openApiDocument(routes: readonly Route[], resources: readonly Resource[], version: string): JsonSchema {
  const components: Components = { Refusal: refusalSchema };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  for (const resource of resources) {
    const parameters = [...resource.path.matchAll(/\*\*:(\w+)|:(\w+)/g)].map((m) => ({
      name: m[1] ?? m[2],
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }));
    paths[resource.path.replaceAll(/(?:\*\*)?:(\w+)/g, '{$1}')] = {
      get: {
        operationId: `get${resource.path.replaceAll(/[^a-z]+(\w?)/gi, (_, c: string) => c.toUpperCase())}`,
        tags: ['System'],
        summary: resource.summary,
        security: [],
        parameters,
        responses: { 200: { description: resource.summary, content: { [resource.contentType]: {} } } },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tradepost',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Storefront (`/api/v1`) and back-office (`/admin/api`) API. Every answer is an envelope `{ code, message, msg, data }`; ' +
        'code 0 is success. A refusal by a rule is HTTP 200 with its code and `data: null`. Amounts are numbers with two ' +
        'decimals, times ISO 8601 with offset. An empty query value counts as absent.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set([...routes.map((route) => route.tag), 'System'])].map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      parameters: {
        lang: {
          name: 'lang',
          in: 'query',
          required: false,
          description: 'Language of messages and labels. It has priority over Accept-Language.',
          schema: { type: 'string', enum: ['en', 'zh-CN'] },
        },
        idempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'Makes the write safe to repeat for 24 hours: the same key with the same request gets the answer of the first ' +
            'one (header `Idempotency-Replayed: true`). The same key with another request is refused with 422. A repeat is ' +
            'refused with 409 while the first request runs, or when it is unknown whether it took effect.',
          schema: { type: 'string', minLength: 1, maxLength: 255 },
          example: '6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d',
        },
      },
      responses: {
        Unauthorized: fault('No token, or one that is invalid, expired or revoked', 401, 'Please log in'),
        Fault: fault(
          'A fault of the protocol (400, 404, 405, 408, 413, 415, 431) or of the server (5xx). 413: the body is larger than `x-body-limit`',
          400,
          'Malformed request',
        ),
      },
    },
  };
}
