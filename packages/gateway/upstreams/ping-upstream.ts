import { faultCode } from '@tradepost/runtime';
import { modelKey } from '../messages/model-key.ts';
import { resolveKey } from './connect-upstream.ts';
import { servedModels } from './served-models.ts';
import type { ModelConfig, UpstreamConfig } from './upstream-settings.ts';

/** `status`: HTTP status of the list of models; null without an answer, with the reason in `fault`. */
export type UpstreamPing = { readonly status: number | null; readonly fault: string; readonly ms: number };

/** Requests the models of an upstream with its key. Never rejects. The body is not read, so nothing of it is shown. */
export async function pingUpstream(upstream: UpstreamConfig, timeoutMs: number): Promise<UpstreamPing> {
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  const key = resolveKey(upstream.api_key);
  try {
    const response = await fetch(`${upstream.base_url.replace(/\/+$/, '')}/models`, {
      headers: { ...upstream.headers, ...(key ? { authorization: `Bearer ${key}` } : {}) },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return { status: response.status, fault: '', ms: ms() };
  } catch (error) {
    const { name, cause } = error as Error;
    const fault =
      name === 'TimeoutError'
        ? `no answer within ${timeoutMs} ms`
        : faultCode(cause) || (cause as Error | undefined)?.message || 'not reachable';
    return { status: null, fault, ms: ms() };
  }
}

/** Names of configured models that no enabled upstream serves. */
export function unservedModels(
  upstreams: readonly UpstreamConfig[],
  models: Readonly<Record<string, ModelConfig>>,
): string[] {
  const enabled = upstreams.filter((upstream) => upstream.enabled);
  const names = new Set(enabled.map(({ name }) => name));
  const serving = enabled.map((upstream) => servedModels(upstream.models));
  return Object.entries(models).flatMap(([name, { upstreams: named, model = name }]) => {
    const served = named
      ? named.some((each) => names.has(each))
      : serving.some((find) => find(modelKey(model)!, model) !== null);
    return served ? [] : [name];
  });
}
