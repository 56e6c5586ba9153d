import type { Route } from '@tradepost/http';
import { openApiDocument } from '@tradepost/http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/**
 * Answers against the OpenAPI document, as an integrator's own tools would check them: status, envelope and data. A route's
 * part of the document is built and compiled when it is first asked: a file pays for the routes it uses.
 */
// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Document = any;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

type Checks = { document: Document; operation: Document; byResponse: Map<string, ValidateFunction> };
const known = new WeakMap<Route, Checks>();
/** For what is no route: only faults are answered there. */
const nowhere: Checks = { document: openApiDocument([], [], 'test'), operation: null, byResponse: new Map() };

function checksOf(route: Route | undefined): Checks {
  if (!route) return nowhere;
  let checks = known.get(route);
  if (!checks) {
    const document: Document = openApiDocument([route], [], 'test');
    const [operation] = Object.values(Object.values(document.paths)[0] as object);
    checks = { document, operation, byResponse: new Map() };
    known.set(route, checks);
  }
  return checks;
}

function validatorOf(checks: Checks, status: number): ValidateFunction {
  const { document, operation, byResponse } = checks;
  const name = operation && String(status) in operation.responses ? String(status) : 'default';
  let validate = byResponse.get(name);
  if (!validate) {
    const said = operation?.responses[name] ?? { $ref: '#/components/responses/Fault' };
    const response = said.$ref ? document.components.responses[said.$ref.split('/').pop()] : said;
    const { schema } = response.content['application/json'];
    validate = ajv.compile({ ...schema, components: { schemas: document.components.schemas } });
    byResponse.set(name, validate);
  }
  return validate;
}

/** What of an answer the document does not say; empty when it fits. */
export function undocumented(route: Route | undefined, status: number, body: { code?: unknown }): string {
  const validate = validatorOf(checksOf(route), status);
  const fits: boolean = validate(body);
  if (fits) return '';
  // Of the two shapes of an envelope only the one that was meant explains anything.
  const other = body.code === 0 ? '#/components/schemas/Refusal' : '#/oneOf/0';
  const errors = (validate.errors ?? []).filter(
    (error) => !error.schemaPath.startsWith(other) && error.keyword !== 'oneOf',
  );
  return (
    errors
      .slice(0, 5)
      .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
      .join('; ') || `HTTP ${status} with ${JSON.stringify(body).slice(0, 200)}`
  );
}
