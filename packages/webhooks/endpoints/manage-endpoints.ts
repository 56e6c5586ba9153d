import type { AddressGuard } from '@tradepost/outbound-http';
import { parseTarget } from '@tradepost/outbound-http';
import type { EventKind, Runtime, Write } from '@tradepost/runtime';
import { lockToAdd, readyWaiting } from '../deliveries/order-store.ts';
import { webhookErrors } from '../errors.ts';
import { maxEndpoints } from '../limits.ts';
import type { Endpoint, EndpointFields } from './endpoint.ts';
import { newSecret, secretName } from './endpoint-secrets.ts';
import {
  countEndpoints,
  insertEndpoint,
  lockEndpoints,
  removeEndpoints,
  replaceSecret,
  selectEndpoints,
  selectNextId,
  updateEndpoint,
} from './endpoint-store.ts';

export type EndpointDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'secrets' | 'now'>;
  readonly guard: AddressGuard;
  readonly kinds: readonly EventKind[];
};

const hourMs = 3_600_000;

async function checkFields({ guard, kinds }: EndpointDeps, { url, event_kinds = [] }: Partial<EndpointFields>) {
  const unknown = event_kinds.find((name) => !kinds.some((kind) => kind.name === name));
  if (unknown !== undefined) throw webhookErrors.unknown_kind({ kind: unknown });
  if (url === undefined) return;
  const target = parseTarget(url);
  const problem = typeof target === 'string' ? target : await guard.check(target);
  // The name may get its address later. Each connection checks it again.
  if (problem && problem !== 'unknown_host') throw webhookErrors[problem]();
}

/** Adds an endpoint. Only this answer has its secret. */
export async function addEndpoint(
  deps: EndpointDeps,
  write: Write,
  fields: EndpointFields,
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { sql, secrets, now } = deps.runtime;
  await checkFields(deps, fields);
  const id = await selectNextId(sql);
  const secret = newSecret();
  const secretSealed = await secrets.seal(secretName(id), secret);
  const endpoint = await write(async (tx) => {
    await lockEndpoints(tx);
    if ((await countEndpoints(tx)) >= maxEndpoints) throw webhookErrors.too_many_endpoints({ max: maxEndpoints });
    return insertEndpoint(tx, { ...fields, id, secret_sealed: secretSealed }, now());
  });
  return { endpoint, secret };
}

/** Changes the given fields of an endpoint. */
export async function changeEndpoint(
  deps: EndpointDeps,
  write: Write,
  id: number,
  fields: Partial<EndpointFields>,
): Promise<Endpoint> {
  await checkFields(deps, fields);
  const now = deps.runtime.now();
  // The outcome is stored for repeats, so it is not the row, which has times.
  await write(async (tx) => {
    // The order of locks is that of the worker: this one, then the endpoint.
    if (fields.enabled) await lockToAdd(tx);
    const endpoint = await updateEndpoint(tx, id, fields, now);
    if (!endpoint) throw webhookErrors.endpoint_not_found();
    // Retention may have deleted the next delivery of a subject while the endpoint was disabled.
    if (fields.enabled) await readyWaiting(tx, id);
    return null;
  });
  const [changed] = await selectEndpoints(deps.runtime.sql, [id]);
  if (!changed) throw webhookErrors.endpoint_not_found();
  return changed;
}

export async function deleteEndpoint(deps: EndpointDeps, write: Write, id: number): Promise<void> {
  const removed = await write((tx) => removeEndpoints(tx, [id], deps.runtime.now()));
  if (removed.length === 0) throw webhookErrors.endpoint_not_found();
}

/** Replaces the secret of an endpoint. For some hours both secrets sign. Only this answer has the new secret. */
export async function rotateSecret(
  deps: EndpointDeps,
  write: Write,
  { id, overlapHours }: { id: number; overlapHours: number },
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { secrets, now } = deps.runtime;
  const at = now();
  const secret = newSecret();
  const sealed = await secrets.seal(secretName(id), secret);
  const until = overlapHours === 0 ? null : new Date(at.getTime() + overlapHours * hourMs);
  const endpoint = await write((tx) => replaceSecret(tx, id, sealed, { until, now: at }));
  if (!endpoint) throw webhookErrors.endpoint_not_found();
  return { endpoint, secret };
}
