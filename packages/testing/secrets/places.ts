import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Route } from '@tradepost/http';
import { vi } from 'vitest';
import { observeAnswers, type ReceivedAnswer } from '../send-request.ts';
import type { TestDatabase } from '../servers/database.ts';
import type { Marks, Place } from './marks.ts';

/** All rows of all tables as text, one place per table. */
export async function tablesOf({ sql }: Pick<TestDatabase, 'sql'>): Promise<Place[]> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`;
  return Promise.all(
    tables.map(async ({ name }) => {
      const rows = await sql.unsafe<{ text: string }[]>(`select t::text as text from ${name} t`);
      return { place: `table ${name}`, text: rows.map(({ text }) => text).join('\n') };
    }),
  );
}

/** The files of a folder. */
export async function filesOf(folder: string): Promise<Place[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = join(entry.parentPath, entry.name);
        return { place: `file ${file.slice(folder.length + 1)}`, text: await readFile(file, 'latin1') };
      }),
  );
}

const named = (route: Route) => ({
  name: `${route.method} ${route.path}`,
  pattern: new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`),
  params: route.path.split(':').length,
});

/**
 * Records the answers of these servers to requests of this process, made with `sendRequest` or `fetch`: status, headers and body.
 * `secretFields` has the routes whose answers show a secret that the shop has made, with the field. Those secrets become marks, and
 * any other answer that has one is a leak. `faults` has the answers of other routes with a field that is named like a secret and has a
 * value.
 */
export function recordAnswers(
  servers: readonly string[],
  routes: readonly Route[],
  { marks, secretFields }: { marks: Marks; secretFields: Readonly<Record<string, { field: string }>> },
) {
  const places: Place[] = [];
  const faults: string[] = [];
  const patterns = routes.map(named).sort((a, b) => a.params - b.params);
  const placeOf = (method: string, path: string) =>
    patterns.find(({ name, pattern }) => name.startsWith(`${method} `) && pattern.test(path))?.name ??
    `${method} ${path}`;
  const isSecretField = /"(\w*(?:secret|password|token|api_key|credential))":"([^"]+)"/gi;

  function keep(place: string, text: string, isRoute: boolean): void {
    const { field } = secretFields[place] ?? {};
    for (const [, name = '', value = ''] of isRoute ? text.matchAll(isSecretField) : []) {
      if (name === field) continue;
      if (value !== '***') faults.push(`${place}: ${name}`);
    }
    const value = field ? (/"data":\{/.test(text) ? JSON.parse(text).data[field] : undefined) : undefined;
    if (typeof value === 'string') {
      const number = marks.count().made;
      // The signature of a login token. Its other parts are no secrets.
      const secret = value.split('.').length === 3 ? value.split('.')[2]! : value.replace(/^whsec_/, '');
      marks.made(`${field} ${number} of ${place}`, secret, place);
      if (value.startsWith('whsec_'))
        marks.made(`key ${number} of ${place}`, Buffer.from(secret, 'base64').toString('hex'));
    }
  }
  const isOurs = (url: string) => servers.some((server) => url.startsWith(server));
  function record(method: string, url: string, { status, headers, text }: ReceivedAnswer): void {
    if (!isOurs(url)) return;
    const { pathname } = new URL(url);
    const place = placeOf(method, pathname);
    keep(
      place,
      text,
      patterns.some(({ name }) => name === place),
    );
    places.push({ place, text: `${status} ${[...headers].flat().join(' ')}\n${text}` });
  }
  const endObserving = observeAnswers(record);
  const original = globalThis.fetch;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await original(input, init);
    const { method, url } = input instanceof Request ? input : { method: init?.method ?? 'GET', url: String(input) };
    const { status, headers } = response;
    // Other answers may be large or never end.
    if (isOurs(url)) record(method, url, { status, headers, text: await response.clone().text() });
    return response;
  });
  const restore = () => {
    spy.mockRestore();
    endObserving();
  };
  return { places, faults, restore };
}
