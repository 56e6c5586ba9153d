import { instantInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Claim, type Runtime, timeZone } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import {
  pageQuery,
  rotateBody,
  tokenChangeView,
  tokenCreateBody,
  tokenQuery,
  tokenSecretView,
  tokenUpdateBody,
  tokenView,
} from '../schemas.ts';
import { selectTokenChanges, selectTokens } from './api-token-store.ts';
import type { ApiTokens } from './api-tokens.ts';
import { tokenChangeViewOf, tokenViewOf, tokenViews } from './token-view.ts';

const shared = { auth: 'staff', permission: 'system:config', tag: 'API tokens' } as const;
const secretNote =
  'Only this answer carries the secret. An Idempotency-Key is refused, because the answer would be stored for repeats and ' +
  'the secret with it.';

/** The answer to a write with an idempotency key is stored. An answer with a secret must not be. */
function refuseKey(claim: Claim | null): void {
  if (claim) throw gatewayErrors.key_not_kept();
}

export function tokenRoutes(runtime: Runtime, tokens: ApiTokens): Route[] {
  const { sql, settings } = runtime;

  /** undefined when the field is absent; null for no expiry. */
  function expiryOf(given: string | null | undefined): Date | null | undefined {
    if (given === undefined) return undefined;
    if (given === null || given === '') return null;
    const at = instantInZone(given, settings.get(timeZone), 'end');
    if (!at) throw gatewayErrors.invalid_moment({ field: 'expires_at' });
    return at;
  }

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/api-tokens',
      summary: 'API tokens, the newest first',
      query: tokenQuery,
      response: pagedOf(tokenView),
      statements: 2,
      async handle({ query }) {
        const paging = pagingOf(query);
        const { rows, total } = await selectTokens(sql, query, runtime.now(), paging);
        return paged(await tokenViews(runtime, rows), total, paging);
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/api/admin/api-tokens',
      summary: 'Create an API token for a shopper',
      description: secretNote,
      body: tokenCreateBody,
      response: tokenSecretView,
      refuses: [
        gatewayErrors.key_not_kept,
        gatewayErrors.invalid_moment,
        gatewayErrors.moment_passed,
        gatewayErrors.token_user_not_found,
        gatewayErrors.too_many_tokens,
      ],
      statements: 6,
      async handle({ body, caller, claim, actor }) {
        refuseKey(claim);
        const fields = { ...body, expires_at: expiryOf(body.expires_at) };
        const { row, secret } = await tokens.create(fields, `admin:${caller.id}`, actor);
        return { ...(await tokenViewOf(runtime, row)), secret };
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/api-tokens/:id',
      summary: 'One API token, with its limits as stored and in force',
      params: idParams,
      response: tokenView,
      refuses: [gatewayErrors.token_not_found],
      statements: 2,
      handle: async ({ params }) => tokenViewOf(runtime, await tokens.get(params.id)),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: '/api/admin/api-tokens/:id',
      summary: 'Change name, limits or expiry of an API token; absent fields stay',
      params: idParams,
      body: tokenUpdateBody,
      repeat: 'natural',
      response: tokenView,
      refuses: [
        gatewayErrors.token_not_found,
        gatewayErrors.token_revoked,
        gatewayErrors.invalid_moment,
        gatewayErrors.moment_passed,
      ],
      statements: 5,
      async handle({ params, body, caller, actor }) {
        const changes = { ...body, expires_at: expiryOf(body.expires_at) };
        return tokenViewOf(runtime, await tokens.update(params.id, changes, `admin:${caller.id}`, actor));
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/api/admin/api-tokens/:id',
      summary: 'Revoke an API token; a revoked token stays revoked',
      repeat: 'natural',
      params: idParams,
      response: nothing,
      refuses: [gatewayErrors.token_not_found],
      statements: 3,
      async handle({ params, caller, actor }) {
        await tokens.get(params.id);
        await tokens.revoke([params.id], `admin:${caller.id}`, actor);
        return null;
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/api/admin/api-tokens/:id/rotate',
      summary: 'Replace the secret of an API token; limits and history stay',
      description: `${secretNote} With \`grace_seconds\` the previous secret stays valid for that time; a later rotation ends it.`,
      params: idParams,
      body: rotateBody,
      response: tokenSecretView,
      refuses: [
        gatewayErrors.key_not_kept,
        gatewayErrors.token_not_found,
        gatewayErrors.token_revoked,
        gatewayErrors.token_expired,
      ],
      statements: 5,
      async handle({ params, body, caller, claim, actor }) {
        refuseKey(claim);
        const { row, secret } = await tokens.rotate(params.id, body.grace_seconds ?? 0, `admin:${caller.id}`, actor);
        return { ...(await tokenViewOf(runtime, row)), secret };
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/api-tokens/:id/changes',
      summary: 'Changes of an API token with their authors, the newest first',
      params: idParams,
      query: pageQuery,
      response: pagedOf(tokenChangeView),
      refuses: [gatewayErrors.token_not_found],
      statements: 2,
      async handle({ params, query }) {
        const paging = pagingOf(query);
        const { user_id } = await tokens.get(params.id);
        const { rows, total } = await selectTokenChanges(sql, { token_id: params.id, user_id }, paging);
        return paged(
          rows.map((row) => tokenChangeViewOf(runtime, row)),
          total,
          paging,
        );
      },
    }),
  ];
}
