import type { AppError, Locale } from '@tradepost/core';
import { z } from 'zod';
import { bodyLimitOf } from '../routing/body-limits.ts';
import { httpErrors } from '../routing/errors.ts';
import type { Resource } from '../routing/resource.ts';
import type { Route } from '../routing/route.ts';
import { type DocumentTexts, documentTexts } from './document-texts.ts';
import { exampleOf, type JsonSchema } from './example.ts';
import { refusalCodes } from './refusal-codes.ts';

type Components = Record<string, JsonSchema>;

/** Returns a text of the document, which is written in English, in the language of the document. */
export type Translate = (text: string, locale: Locale) => string;
const untranslated: Translate = (text) => text;

/** What all operations of a document share. */
type DocumentContext = {
  readonly components: Components;
  readonly locale: Locale;
  readonly texts: DocumentTexts;
  readonly translate: (text: string) => string;
};

/**
 * Converts `schema` to JSON Schema. Adds the schemas that have an id (`.meta({ id })`) to `components`. `translate` gets every
 * description.
 */
export function schemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Components,
  translate: (text: string) => string = (text) => text,
): JsonSchema {
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
          : key === 'description' && typeof value === 'string'
            ? [key, translate(value)]
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

function envelopeSchema(data: JsonSchema, code: JsonSchema, texts: DocumentTexts): JsonSchema {
  return {
    type: 'object',
    required: ['code', 'message', 'msg', 'data'],
    properties: {
      code,
      message: { type: 'string' },
      msg: { type: 'string', description: texts.msg },
      data,
    },
  };
}

/** The codes are listed, so that generated types know that `data` is present when `code` is 0. */
const refusalSchema = (codes: readonly number[], texts: DocumentTexts): JsonSchema =>
  envelopeSchema({ type: 'null' }, { type: 'integer', enum: [...codes], description: texts.refusalCode }, texts);
const refusalRef = { $ref: '#/components/schemas/Refusal' };

function parametersOf(
  schema: z.ZodType | undefined,
  where: 'path' | 'query',
  { components, translate }: DocumentContext,
): unknown[] {
  if (!schema) return [];
  const object = schemaOf(schema, 'input', components, translate);
  const needed = new Set(object.required ?? []);
  return Object.entries(object.properties ?? {}).map(([name, property]) => {
    const required = where === 'path' || needed.has(name);
    const example = exampleOf(property as JsonSchema, components);
    // The reference page fills in the `example` of a parameter. For a filter it is in the schema, so that a call that was
    // tried out lists everything.
    return required
      ? { name, in: where, required, schema: property, example }
      : { name, in: where, required, schema: { ...property, examples: [example] } };
  });
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
const refusalExamples = (refusals: readonly AppError[], { locale }: DocumentContext) =>
  Object.fromEntries(
    refusals.map((refusal) => {
      const message = refusal.messageIn(locale);
      return [
        refusal.refusalName,
        { summary: message, value: { code: refusal.code, message, msg: message, data: null } },
      ];
    }),
  );

/** The responses for refusals with an HTTP status other than 200. */
function refusalResponses(refusals: readonly AppError[], context: DocumentContext): Record<number, object> {
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
        description: context.texts.refusal,
        content: { 'application/json': { schema: refusalRef, examples: refusalExamples(list, context) } },
      },
    ]),
  );
}

/** Two schemes, so that a tool can hold the tokens of a shopper and of an administrator at the same time. */
const securityOf: Readonly<Record<Route['auth'], readonly Readonly<Record<string, readonly string[]>>[]>> = {
  public: [],
  optional: [{}, { shopper: [] }],
  shopper: [{ shopper: [] }],
  staff: [{ staff: [] }],
  any: [{ shopper: [] }, { staff: [] }],
};

/** The answer of a route with `file`. A refusal by a rule has the envelope. */
function fileResponse(route: Route, byRule: readonly AppError[], context: DocumentContext): object {
  const { components, texts } = context;
  const schema = schemaOf(route.response, 'output', components, context.translate);
  return {
    description: texts.file,
    headers: { 'Content-Disposition': { schema: { type: 'string' }, description: `\`${route.file!.name}\`` } },
    content: {
      [route.file!.type.split(';', 1)[0]!]: { schema, example: exampleOf(schema, components) },
      'application/json': { schema: refusalRef, examples: refusalExamples(byRule, context) },
    },
  };
}

function successResponse(route: Route, byRule: readonly AppError[], context: DocumentContext): object {
  const { components, texts } = context;
  if (route.file) return fileResponse(route, byRule, context);
  const data = schemaOf(route.response, 'output', components, context.translate);
  const example = { code: 0, message: 'success', msg: 'success', data: exampleOf(data, components) };
  return {
    description: texts.success,
    content: {
      'application/json': {
        schema: { oneOf: [envelopeSchema(data, { type: 'integer', const: 0 }, texts), refusalRef] },
        examples: { success: { value: example }, ...refusalExamples(byRule, context) },
      },
    },
  };
}

function operationOf(route: Route, context: DocumentContext): Record<string, unknown> {
  const { components, texts, translate } = context;
  const refusals = refusalsOf(route);
  const byRule = refusals.filter(({ status }) => status === 200);
  const faults = refusals.filter(({ status }) => status !== 200);
  const needsToken = route.auth !== 'public' && route.auth !== 'optional';
  // The route has a 401 response of its own, which replaces the shared one: add the refusals of the shared one.
  const unauthorized =
    needsToken && faults.some(({ status }) => status === 401)
      ? [httpErrors.not_logged_in(), httpErrors.invalid_token()]
      : [];
  const body = route.body ? schemaOf(route.body, 'input', components, translate) : null;
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[/:_-]+(\w?)/g, (_, c: string) => c.toUpperCase())}`,
    tags: [translate(route.tag)],
    summary: translate(route.summary),
    description: [
      route.description ? translate(route.description) : '',
      texts.auth[route.auth],
      route.permission ? texts.permission(route.permission) : '',
    ]
      .filter(Boolean)
      .join(' '),
    security: securityOf[route.auth],
    ...(route.statements === undefined ? {} : { 'x-statements': route.statements }),
    // Without a limit of its own, a streamed route has the one of the configuration.
    ...(body && !(route.bodyStream && !route.bodyLimit) ? { 'x-body-limit': bodyLimitOf(route) } : {}),
    parameters: [
      ...parametersOf(route.params, 'path', context),
      ...parametersOf(route.query, 'query', context),
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
      200: successResponse(route, byRule, context),
      ...(route.etag ? { 304: { description: texts.notModified } } : {}),
      ...(needsToken ? { 401: { $ref: '#/components/responses/Unauthorized' } } : {}),
      ...refusalResponses([...unauthorized, ...faults], context),
      default: { $ref: '#/components/responses/Fault' },
    },
  };
}

function fault(description: string, refusal: AppError, { locale }: DocumentContext) {
  const message = refusal.messageIn(locale);
  const example = { code: refusal.code, message, msg: message, data: null };
  return { description, content: { 'application/json': { schema: refusalRef, example } } };
}

/** Path and operation of a file or a system page. */
function resourceOperation({ method = 'GET', path, summary, contentType }: Resource, { translate }: DocumentContext) {
  const parameters = [...path.matchAll(/\*\*:(\w+)|:(\w+)/g)].map((m) => ({
    name: m[1] ?? m[2],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^a-z]+(\w?)/gi, (_, c: string) => c.toUpperCase())}`,
    tags: [translate('System')],
    summary: translate(summary),
    security: [],
    parameters,
    responses: { 200: { description: translate(summary), content: { [contentType]: {} } } },
  };
}

function sharedComponents(context: DocumentContext) {
  const { texts } = context;
  const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
  return {
    securitySchemes: {
      shopper: { ...bearer, description: texts.shopperToken },
      staff: { ...bearer, description: texts.staffToken },
    },
    parameters: {
      lang: {
        name: 'lang',
        in: 'query',
        required: false,
        description: texts.lang,
        schema: { type: 'string', enum: ['en', 'zh-CN'] },
      },
      // Without an example: a tool that fills it in would send the same key with each write.
      idempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description: texts.idempotencyKey,
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    },
    responses: {
      Unauthorized: fault(texts.unauthorized, httpErrors.not_logged_in(), context),
      Fault: fault(texts.fault, httpErrors.bad_request(), context),
    },
  };
}

/** Makes the OpenAPI 3.1 document of a route table. */
export function openApiDocument(
  routes: readonly Route[],
  resources: readonly Resource[],
  version: string,
  { locale = 'en', translate = untranslated }: { locale?: Locale; translate?: Translate } = {},
): JsonSchema {
  const texts = documentTexts[locale];
  const components: Components = { Refusal: refusalSchema(refusalCodes(routes), texts) };
  const context = { components, locale, texts, translate: (text: string) => translate(text, locale) };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, context) };
  }
  for (const resource of resources)
    paths[resource.path.replaceAll(/(?:\*\*)?:(\w+)/g, '{$1}')] = {
      [(resource.method ?? 'GET').toLowerCase()]: resourceOperation(resource, context),
    };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tradepost',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description: texts.introduction,
    },
    servers: [{ url: '/' }],
    tags: [...new Set([...routes.map((route) => route.tag), 'System'])].map((name) => ({
      name: context.translate(name),
    })),
    paths,
    components: { schemas: components, ...sharedComponents(context) },
  };
}
