import type { Route } from '@tradepost/http';
import { openApiDocument } from '@tradepost/http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { label } from './inputs.ts';

/**
 * Checks answers against the OpenAPI document as a tool of an integrator does: status, envelope and data. The schemas of a
 * route are compiled when the route is first checked, so a test file compiles only the routes that it uses.
 */
// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Document = any;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

type RouteChecks = { document: Document; operation: Document; byResponse: Map<string, ValidateFunction> };
/** By response schema, which the routes of all shops of a process share, and by the label of the route. */
const checksBySchema = new WeakMap<Route['response'], Map<string, RouteChecks>>();
/** The checks of a path without a route: only faults are valid answers. */
const noRoute: RouteChecks = { document: openApiDocument([], [], 'test'), operation: null, byResponse: new Map() };

function checksOf(route: Route | undefined): RouteChecks {
  if (!route) return noRoute;
  const byLabel = checksBySchema.get(route.response) ?? new Map<string, RouteChecks>();
  checksBySchema.set(route.response, byLabel);
  const name = label(route);
  let checks = byLabel.get(name);
  if (!checks) {
    const document: Document = openApiDocument([route], [], 'test');
    const [operation] = Object.values(Object.values(document.paths)[0] as object);
    checks = { document, operation, byResponse: new Map() };
    byLabel.set(name, checks);
  }
  return checks;
}

function validatorOf(checks: RouteChecks, status: number): ValidateFunction {
  const { document, operation, byResponse } = checks;
  const name = operation && String(status) in operation.responses ? String(status) : 'default';
  let validate = byResponse.get(name);
  if (!validate) {
    const documented = operation?.responses[name] ?? { $ref: '#/components/responses/Fault' };
    const response = documented.$ref ? document.components.responses[documented.$ref.split('/').pop()] : documented;
    const { schema } = response.content['application/json'];
    validate = ajv.compile({ ...schema, components: { schemas: document.components.schemas } });
    byResponse.set(name, validate);
  }
  return validate;
}

/** The differences between an answer and the document. Empty when the answer is valid. */
export function undocumented(route: Route | undefined, status: number, body: { code?: unknown }): string {
  const validate = validatorOf(checksOf(route), status);
  const isValid: boolean = validate(body);
  if (isValid) return '';
  // The envelope is a success or a refusal. Only the errors of the form that the code names are useful.
  const otherForm = body.code === 0 ? '#/components/schemas/Refusal' : '#/oneOf/0';
  const errors = (validate.errors ?? []).filter(
    (error) => !error.schemaPath.startsWith(otherForm) && error.keyword !== 'oneOf',
  );
  return (
    errors
      .slice(0, 5)
      .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
      .join('; ') || `HTTP ${status} with ${JSON.stringify(body).slice(0, 200)}`
  );
}
