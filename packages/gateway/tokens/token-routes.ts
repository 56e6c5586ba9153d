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
  'The secret is in this answer and nowhere else. An Idempotency-Key is refused, as keeping the answer for repeats would ' +
  'keep the secret.';

/** The answer to a write with a key is stored for its repeats: one with a secret must not be. */
function refuseKey(claim: Claim | null): void {
  if (claim) throw gatewayErrors.key_not_kept();
}

export function tokenRoutes(runtime: Runtime, tokens: ApiTokens): Route[] {
  const { sql, settings } = runtime;

  /** undefined: not given; null: never. */
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
      summary: 'Make an API token for a shopper',
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
      async handle({ body, caller, claim }) {
        refuseKey(claim);
        const fields = { ...body, expires_at: expiryOf(body.expires_at) };
        const { row, secret } = await tokens.create(fields, `admin:${caller.id}`);
        return { ...(await tokenViewOf(runtime, row)), secret };
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/api-tokens/:id',
      summary: 'One API token, its limits as stored and as in force',
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
      summary: 'Change name, limits or expiry of an API token: what the body carries',
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
      async handle({ params, body, caller }) {
        const changes = { ...body, expires_at: expiryOf(body.expires_at) };
        return tokenViewOf(runtime, await tokens.update(params.id, changes, `admin:${caller.id}`));
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/api/admin/api-tokens/:id',
      summary: 'Revoke an API token: it opens nothing from now on; revoked again it stays so',
      repeat: 'natural',
      params: idParams,
      response: nothing,
      refuses: [gatewayErrors.token_not_found],
      statements: 3,
      async handle({ params, caller }) {
        await tokens.get(params.id);
        await tokens.revoke([params.id], `admin:${caller.id}`);
        return null;
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/api/admin/api-tokens/:id/rotate',
      summary: 'Another secret for an API token; limits and history stay',
      description: `${secretNote} With \`grace_seconds\` the secret before is good for so long; of two rotations the last one decides.`,
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
      async handle({ params, body, caller, claim }) {
        refuseKey(claim);
        const { row, secret } = await tokens.rotate(params.id, body.grace_seconds ?? 0, `admin:${caller.id}`);
        return { ...(await tokenViewOf(runtime, row)), secret };
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/api-tokens/:id/changes',
      summary: 'Who changed what of an API token, the newest first',
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
