type Tag = { readonly name: string };

/** An OpenAPI document, or a part of one, as far as this folder reads it. */
export type ApiDocument = {
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>>; readonly [part: string]: unknown };
  readonly [part: string]: unknown;
};

export type ApiPart = {
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};

const sorted = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));

/** The names of the schemas that `part` refers to, directly or through other schemas. */
function schemasUsedBy(part: unknown, schemas: ApiDocument['components']['schemas']): Set<string> {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(part);
  return used;
}

const tagsOf = (operation: unknown): readonly string[] => (operation as { tags?: readonly string[] }).tags ?? [];

/**
 * Divides a document among the packages that own its operations. `owners` lists the packages so that a package comes after
 * those it needs; each has its operations as `GET /api/v1/orders/{id}`. A schema or tag belongs to the first package in the list
 * that uses it. `base` keeps the rest: the head of the document, the operations without owner, and the schemas that they use.
 */
export function splitDocument(
  document: ApiDocument,
  owners: readonly { readonly name: string; readonly operations: ReadonlySet<string> }[],
): { base: ApiDocument; parts: ReadonlyMap<string, ApiPart> } {
  const { schemas } = document.components;
  const tagsLeft = new Set(document.tags.map(({ name }) => name));
  const assigned = new Set<string>();
  const partOf = (owns: (operation: string) => boolean, rest?: unknown): ApiPart => {
    const paths: [string, Record<string, unknown>][] = [];
    for (const [path, methods] of Object.entries(document.paths)) {
      const own = Object.entries(methods).filter(([method]) => owns(`${method.toUpperCase()} ${path}`));
      if (own.length > 0) paths.push([path, sorted(own)]);
    }
    const names = [...schemasUsedBy([paths, rest ?? null], schemas)].filter((name) => !assigned.has(name));
    for (const name of names) assigned.add(name);
    const used = new Set(paths.flatMap(([, methods]) => Object.values(methods).flatMap(tagsOf)));
    const tags = [...used].filter((name) => tagsLeft.delete(name)).sort();
    return {
      tags: tags.map((name) => ({ name })),
      paths: sorted(paths),
      components: { schemas: sorted(names.map((name) => [name, schemas[name]] as const)) },
    };
  };
  const owned = new Set(owners.flatMap(({ operations }) => [...operations]));
  const { schemas: _schemas, ...shared } = document.components;
  const { tags, paths, components } = partOf((operation) => !owned.has(operation), shared);
  const base = { ...document, tags, paths, components: { ...shared, ...components } };
  const parts = new Map<string, ApiPart>();
  for (const { name, operations } of owners) {
    const part = partOf((operation) => operations.has(operation));
    if (Object.keys(part.paths).length > 0) parts.set(name, part);
  }
  return { base, parts };
}
