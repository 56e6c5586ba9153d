import { askUpstream } from './ask-upstream.ts';
import type { Upstream } from './connect-upstream.ts';
import { fitsPattern } from './model-routes.ts';
import type { Upstreams } from './upstreams.ts';

export type ListedModel = { id: string; object: 'model'; created: number; owned_by: string };

/** What an upstream lists is believed for so long. */
const keptMs = 60_000;
const mostListed = 10_000;
const longestName = 256;

const entry = (id: string, created = 0): ListedModel => ({ id, object: 'model', created, owned_by: 'tradepost' });

/** Models of an upstream that is configured by patterns alone, as it lists them itself. */
async function askForModels(upstream: Upstream): Promise<ListedModel[] | null> {
  const asked = {
    method: 'GET',
    path: 'models',
    headers: ['accept', 'application/json'],
    body: null,
    stream: false,
  } as const;
  const outcome = await askUpstream(upstream, asked, { cancelled: false, onCancel: null });
  if (outcome.kind !== 'whole' || outcome.status !== 200) return null;
  try {
    const { data } = JSON.parse(outcome.body.toString('utf8')) as { data?: unknown };
    if (!Array.isArray(data)) return null;
    return data.slice(0, mostListed).flatMap((row: { id?: unknown; created?: unknown } | null) => {
      const id = row?.id;
      if (typeof id !== 'string' || id === '' || id.length > longestName) return [];
      if (!upstream.config.models.some((pattern) => fitsPattern(pattern, id))) return [];
      return [entry(id, Number.isSafeInteger(row?.created) ? (row!.created as number) : 0)];
    });
  } catch {
    return null;
  }
}

/** GET /v1/models: the configured names, those that upstreams are configured with, and those that they list. */
export function openModelList(upstreams: Upstreams) {
  const kept = new WeakMap<Upstream, { at: number; models: Promise<ListedModel[]> }>();

  const listedBy = (upstream: Upstream): Promise<ListedModel[]> => {
    const known = kept.get(upstream);
    if (known && performance.now() - known.at < keptMs) return known.models;
    // One that does not answer just now keeps what it said last.
    const models = askForModels(upstream).then((found) => found ?? known?.models ?? []);
    kept.set(upstream, { at: performance.now(), models });
    return models;
  };

  async function all(): Promise<Map<string, ListedModel>> {
    const configured = upstreams.models();
    const found = new Map<string, ListedModel>();
    for (const [name, { hidden }] of Object.entries(configured))
      if (!hidden && upstreams.routeOf(name)?.candidates.length) found.set(name, entry(name));
    const add = (model: ListedModel) => {
      if (!found.has(model.id) && !(Object.hasOwn(configured, model.id) && configured[model.id]!.hidden))
        found.set(model.id, model);
    };
    const patternsOnly: Upstream[] = [];
    for (const upstream of upstreams.enabled()) {
      const names = upstream.config.models.filter((name) => !name.includes('*'));
      if (names.length === 0) patternsOnly.push(upstream);
      for (const name of names) add(entry(name));
    }
    for (const models of await Promise.all(patternsOnly.map(listedBy))) for (const model of models) add(model);
    return found;
  }

  return {
    async list(): Promise<{ object: 'list'; data: ListedModel[] }> {
      return { object: 'list', data: [...(await all()).values()] };
    },
    /** One that is hidden from the list is found by its name. */
    async find(id: string): Promise<ListedModel | null> {
      if (Object.hasOwn(upstreams.models(), id)) return upstreams.routeOf(id)?.candidates.length ? entry(id) : null;
      return (await all()).get(id) ?? null;
    },
  };
}
