import { modelKey } from '../messages/model-key.ts';
import { askUpstream, type Cancel, cancelNow } from '../upstreams/ask-upstream.ts';
import type { Upstream } from '../upstreams/connect-upstream.ts';
import type { Redactor } from '../upstreams/redact.ts';
import { configuredModels } from '../upstreams/upstream-settings.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import { gatewayHeader } from './gateway-loop.ts';

export type ListedModel = { id: string; object: 'model'; created: number; owned_by: string };

/** What an upstream lists is believed for so long. */
const keptMs = 60_000;
/** For all upstreams together: whoever asks for the list does not wait for a silent one. */
const withinMs = 5_000;
const mostListed = 10_000;

const entry = (id: string, created = 0): ListedModel => ({ id, object: 'model', created, owned_by: 'tradepost' });

/** Models of an upstream that is configured by patterns alone, as it lists them itself; null: it does not say. */
async function askForModels(
  upstream: Upstream,
  redactor: Redactor,
  passed: string,
  deadlineMs: number,
): Promise<ListedModel[] | null> {
  const asked = {
    method: 'GET',
    path: 'models',
    headers: ['accept', 'application/json', gatewayHeader, passed],
    body: null,
    stream: false,
    redactor,
  } as const;
  const cancel: Cancel = { cancelled: false, onCancel: null };
  const late = setTimeout(() => cancelNow(cancel), deadlineMs);
  const outcome = await askUpstream(upstream, asked, cancel).finally(() => clearTimeout(late));
  if (outcome.kind !== 'whole' || outcome.status !== 200) return null;
  try {
    const { data } = JSON.parse(outcome.body.toString('utf8')) as { data?: unknown };
    if (!Array.isArray(data)) return null;
    return data.slice(0, mostListed).flatMap((row: { id?: unknown; created?: unknown } | null) => {
      const id = row?.id;
      const key = typeof id === 'string' ? modelKey(id) : null;
      if (typeof id !== 'string' || key === null || upstream.serves(key, id) === null) return [];
      return [entry(id, Number.isSafeInteger(row?.created) ? (row!.created as number) : 0)];
    });
  } catch {
    return null;
  }
}

/** `asking`: one request at a time, shared by whoever wants to know. */
type Kept = { at: number; models: readonly ListedModel[]; asking: Promise<readonly ListedModel[]> | null };

/** GET /v1/models: the configured names, those that upstreams are configured with, and those that they list. */
export function openModelList(
  upstreams: Pick<Upstreams, 'models' | 'routeOf' | 'enabled' | 'redactor'>,
  { deadlineMs = withinMs, believedMs = keptMs }: { deadlineMs?: number; believedMs?: number } = {},
) {
  const kept = new WeakMap<Upstream, Kept>();

  /** One that rests, is silent or does not list its models has those that it listed last. */
  const listedBy = (upstream: Upstream, passed: string): readonly ListedModel[] | Promise<readonly ListedModel[]> => {
    const now = performance.now();
    let known = kept.get(upstream);
    if (!known) {
      known = { at: Number.NEGATIVE_INFINITY, models: [], asking: null };
      kept.set(upstream, known);
    }
    if (known.asking) return known.asking;
    if (now - known.at < believedMs || !upstream.circuit.allows(now)) return known.models;
    const of = known;
    of.asking = askForModels(upstream, upstreams.redactor(), passed, deadlineMs).then((found) => {
      of.asking = null;
      // No answer is believed as long: everybody else does not wait for one again.
      of.at = performance.now();
      of.models = found ?? of.models;
      return of.models;
    });
    return of.asking;
  };

  /** By the normal form of their names; of two spellings of one model the first is listed. */
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
    const lists = await Promise.all(patternsOnly.map((upstream) => listedBy(upstream, passed)));
    for (const models of lists) for (const model of models) add(model);
    return found;
  }

  return {
    /** `passed`: the gateways on the way of whoever asks. */
    async list(passed: string): Promise<{ object: 'list'; data: ListedModel[] }> {
      return { object: 'list', data: [...(await all(passed)).values()] };
    },
    /** One that is hidden from the list is found by its name. */
    async find(id: string, passed: string): Promise<ListedModel | null> {
      const key = modelKey(id);
      if (key === null) return null;
      const known = configuredModels(upstreams.models()).get(key);
      if (known) return upstreams.routeOf(known.name)?.candidates.length ? entry(known.name) : null;
      return (await all(passed)).get(key) ?? null;
    },
  };
}
