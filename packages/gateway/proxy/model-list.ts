import { isObject } from '../messages/count-input.ts';
import { modelKey } from '../messages/model-key.ts';
import type { Upstream } from '../upstreams/connect-upstream.ts';
import type { Redactor } from '../upstreams/redact.ts';
import { type Cancel, cancelNow, sendToUpstream } from '../upstreams/send-to-upstream.ts';
import { configuredModels } from '../upstreams/upstream-settings.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import { gatewayHeader } from './gateway-loop.ts';

export type ListedModel = { id: string; object: 'model'; created: number; owned_by: string };

/** The list of an upstream is cached for this time. */
const cacheMs = 60_000;
/** Deadline of all upstreams together, so that a silent upstream does not delay the list. */
const maxWaitMs = 5_000;
const maxListed = 10_000;

const entry = (id: string, created = 0): ListedModel => ({ id, object: 'model', created, owned_by: 'tradepost' });

/** Reads the list of models of an upstream; null when it does not answer with one. */
async function readModels(
  upstream: Upstream,
  redactor: Redactor,
  passed: string,
  deadlineMs: number,
): Promise<ListedModel[] | null> {
  const request = {
    method: 'GET',
    path: 'models',
    headers: ['accept', 'application/json', gatewayHeader, passed],
    body: null,
    stream: false,
    redactor,
  } as const;
  const cancel: Cancel = { cancelled: false, onCancel: null };
  const late = setTimeout(() => cancelNow(cancel), deadlineMs);
  const outcome = await sendToUpstream(upstream, request, cancel).finally(() => clearTimeout(late));
  if (outcome.kind !== 'whole' || outcome.status !== 200) return null;
  try {
    const list: unknown = JSON.parse(outcome.body.toString('utf8'));
    if (!isObject(list) || !Array.isArray(list.data)) return null;
    return list.data.slice(0, maxListed).flatMap((row: unknown) => {
      if (!isObject(row) || typeof row.id !== 'string') return [];
      const { id, created } = row;
      const key = modelKey(id);
      if (key === null || upstream.serves(key, id) === null) return [];
      return [entry(id, typeof created === 'number' && Number.isSafeInteger(created) ? created : 0)];
    });
  } catch {
    return null;
  }
}

/** The models of one upstream. `reading`: the running request, shared by all callers. */
type CachedList = { at: number; models: readonly ListedModel[]; reading: Promise<readonly ListedModel[]> | null };

/** The models of GET /v1/models: names in `gateway.models`, names of upstreams, and models that upstreams list themselves. */
export function openModelList(
  upstreams: Pick<Upstreams, 'models' | 'routeOf' | 'enabled' | 'redactor'>,
  { deadlineMs = maxWaitMs, cachedMs = cacheMs }: { deadlineMs?: number; cachedMs?: number } = {},
) {
  const lists = new WeakMap<Upstream, CachedList>();

  /**
   * The models that an upstream lists. When its circuit is open, or it does not answer with a list, its last list is
   * used.
   */
  const listedBy = (upstream: Upstream, passed: string): readonly ListedModel[] | Promise<readonly ListedModel[]> => {
    const now = performance.now();
    let known = lists.get(upstream);
    if (!known) {
      known = { at: Number.NEGATIVE_INFINITY, models: [], reading: null };
      lists.set(upstream, known);
    }
    if (known.reading) return known.reading;
    if (now - known.at < cachedMs || !upstream.circuit.allows(now)) return known.models;
    const list = known;
    list.reading = readModels(upstream, upstreams.redactor(), passed, deadlineMs).then((found) => {
      list.reading = null;
      // A missing answer is cached for the same time, so that other callers do not wait for it again.
      list.at = performance.now();
      list.models = found ?? list.models;
      return list.models;
    });
    return list.reading;
  };

  /** All models by the normal form of their names. Of two spellings the first is listed. */
  async function all(passed: string): Promise<Map<string, ListedModel>> {
    const configured = configuredModels(upstreams.models());
    const found = new Map<string, ListedModel>();
    for (const [key, { name, config }] of configured)
      if (!config.hidden && upstreams.routeOf(name)?.candidates.length) found.set(key, entry(name));
    const add = (model: ListedModel) => {
      const key = modelKey(model.id)!;
      if (!found.has(key) && !configured.get(key)?.config.hidden) found.set(key, model);
    };
    const patternsOnly: Upstream[] = [];
    for (const upstream of upstreams.enabled()) {
      const names = upstream.config.models.filter((name) => !name.includes('*'));
      if (names.length === 0) patternsOnly.push(upstream);
      for (const name of names) add(entry(name));
    }
    const listed = await Promise.all(patternsOnly.map((upstream) => listedBy(upstream, passed)));
    for (const models of listed) for (const model of models) add(model);
    return found;
  }

  return {
    /** `passed`: the gateways that the request has passed. */
    async list(passed: string): Promise<{ object: 'list'; data: ListedModel[] }> {
      return { object: 'list', data: [...(await all(passed)).values()] };
    },
    /** Finds a model by its name, also one that is hidden from the list. */
    async find(id: string, passed: string): Promise<ListedModel | null> {
      const key = modelKey(id);
      if (key === null) return null;
      const known = configuredModels(upstreams.models()).get(key);
      if (known) return upstreams.routeOf(known.name)?.candidates.length ? entry(known.name) : null;
      return (await all(passed)).get(key) ?? null;
    },
  };
}
