import { randomUUID } from 'node:crypto';
import { isoInZone } from '@tradepost/core';
import type { AddressGuard } from '@tradepost/outbound-http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { openSecrets } from '../endpoints/endpoint-secrets.ts';
import { selectTargets } from '../endpoints/endpoint-store.ts';
import { webhookErrors } from '../errors.ts';
import type { Attempt } from './delivery.ts';
import { endpointConnections, postDelivery } from './post-delivery.ts';

/** Sends one message of the kind `webhook.test` to an endpoint, also to a disabled one. It is not stored. */
export async function sendTest(
  { runtime, guard }: { runtime: Pick<Runtime, 'sql' | 'secrets' | 'settings' | 'now'>; guard: AddressGuard },
  endpointId: number,
): Promise<Attempt> {
  const [target] = await selectTargets(runtime.sql, endpointId);
  if (!target) throw webhookErrors.endpoint_not_found();
  const now = runtime.now();
  const id = `test_${randomUUID()}`;
  const timestamp = isoInZone(now, runtime.settings.get(timeZone));
  const body = JSON.stringify({ id, type: 'webhook.test', timestamp, data: { endpoint_id: endpointId } });
  const connections = endpointConnections(guard, target.url, 1);
  try {
    const way = { connections, url: target.url, secrets: openSecrets(runtime.secrets, target, now) };
    return (await postDelivery({ id, body }, way, new AbortController().signal, now))!;
  } finally {
    await connections.pool.destroy();
  }
}
