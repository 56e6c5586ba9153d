import { defineRoute, idParams, nothing, type Route } from '@tradepost/http';
import { type Claim, createConcurrencyLimit, runtimeErrors, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { sendTest } from '../deliveries/send-test.ts';
import { webhookErrors } from '../errors.ts';
import { testSlots } from '../limits.ts';
import {
  attemptSchema,
  endpointBody,
  endpointChanges,
  endpointList,
  endpointSchema,
  endpointSecretSchema,
  kindList,
  rotateBody,
} from '../schemas.ts';
import { attemptView, endpointView } from '../views.ts';
import type { Endpoint } from './endpoint.ts';
import { selectCounts, selectEndpoints } from './endpoint-store.ts';
import { addEndpoint, changeEndpoint, deleteEndpoint, type EndpointDeps, rotateSecret } from './manage-endpoints.ts';

const shared = { auth: 'staff', permission: 'system:config', tag: 'Webhooks' } as const;
const path = '/admin/api/webhooks/endpoints';
const urlRefusals = [
  ...[webhookErrors.not_http, webhookErrors.has_credentials, webhookErrors.private_address],
  webhookErrors.unknown_kind,
];
const secretNote =
  'Only this answer has the secret. An Idempotency-Key is refused, because the answer would be stored for repeats.';

/** The answer to a write with an idempotency key is stored. An answer with a secret must not be. */
function refuseKey(claim: Claim | null): void {
  if (claim) throw webhookErrors.key_not_kept();
}

export function endpointRoutes(deps: EndpointDeps & Parameters<typeof sendTest>[0]): Route[] {
  const { runtime, kinds } = deps;
  const zone = () => runtime.settings.get(timeZone);
  const viewsOf = async (endpoints: readonly Endpoint[]) => {
    const ids = endpoints.map(({ id }) => id);
    const counts = ids.length === 0 ? new Map() : await selectCounts(runtime.sql, ids);
    return endpoints.map((endpoint) => endpointView(endpoint, counts.get(endpoint.id), zone()));
  };
  const viewOf = async (endpoint: Endpoint) => (await viewsOf([endpoint]))[0]!;

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/webhooks/events',
      summary: 'The events that webhook endpoints can get, with their facts',
      response: kindList,
      statements: 0,
      handle: () => ({
        list: kinds.map(({ name, about, data }) => ({ name, about, schema: z.toJSONSchema(data) })),
      }),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path,
      summary: 'Webhook endpoints',
      response: endpointList,
      statements: 2,
      handle: async () => ({ list: await viewsOf(await selectEndpoints(runtime.sql, null)) }),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path,
      summary: 'Add a webhook endpoint',
      description: secretNote,
      body: endpointBody,
      response: endpointSecretSchema,
      refuses: [webhookErrors.key_not_kept, webhookErrors.too_many_endpoints, ...urlRefusals],
      statements: 8,
      async handle({ body, claim, write }) {
        refuseKey(claim);
        const { endpoint, secret } = await addEndpoint(deps, write, body);
        return { ...endpointView(endpoint, undefined, zone()), secret };
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${path}/:id`,
      summary: 'One webhook endpoint',
      params: idParams,
      response: endpointSchema,
      refuses: [webhookErrors.endpoint_not_found],
      statements: 2,
      async handle({ params }) {
        const [endpoint] = await selectEndpoints(runtime.sql, [params.id]);
        if (!endpoint) throw webhookErrors.endpoint_not_found();
        return viewOf(endpoint);
      },
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: `${path}/:id`,
      summary: 'Change a webhook endpoint; absent fields stay',
      params: idParams,
      body: endpointChanges,
      response: endpointSchema,
      refuses: [webhookErrors.endpoint_not_found, ...urlRefusals],
      repeat: 'recorded',
      statements: 5,
      handle: async ({ params, body, write }) => viewOf(await changeEndpoint(deps, write, params.id, body)),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: `${path}/:id`,
      summary: 'Remove a webhook endpoint; what waits for it is not sent',
      params: idParams,
      response: nothing,
      refuses: [webhookErrors.endpoint_not_found],
      repeat: 'recorded',
      statements: 1,
      async handle({ params, write }) {
        await deleteEndpoint(deps, write, params.id);
        return null;
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${path}/:id/rotate-secret`,
      summary: 'Replace the secret of a webhook endpoint',
      description: `${secretNote} For \`overlap_hours\` each request has the signatures of both secrets.`,
      params: idParams,
      body: rotateBody,
      response: endpointSecretSchema,
      refuses: [webhookErrors.key_not_kept, webhookErrors.endpoint_not_found],
      statements: 5,
      async handle({ params, body, claim, write }) {
        refuseKey(claim);
        const order = { id: params.id, overlapHours: body.overlap_hours };
        const { endpoint, secret } = await rotateSecret(deps, write, order);
        return { ...(await viewOf(endpoint)), secret };
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${path}/:id/test`,
      summary: 'Send a test message to a webhook endpoint, and answer the result',
      params: idParams,
      response: attemptSchema,
      refuses: [webhookErrors.endpoint_not_found, runtimeErrors.secret_unreadable],
      notLogged: 'It sends a message and stores nothing.',
      statements: 1,
      slots: createConcurrencyLimit(testSlots),
      handle: async ({ params }) => attemptView(await sendTest(deps, params.id), zone()),
    }),
  ];
}
