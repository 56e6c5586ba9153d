import { readdir, readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import { isTestFile, root } from './tree.ts';

/**
 * Package boundaries: every import of a package is declared in its package.json, a package imports no file of another
 * package, packages depend on each other in one direction, and files do not import each other in a cycle. Returns the
 * faults, each with its file. `node test/architecture/boundaries.ts` prints them.
 */
type Package = {
  name: string;
  folder: string;
  declared: Set<string>;
  development: Set<string>;
  /** What other packages may import: `@tradepost/app`, `@tradepost/app/version`. */
  exported: Set<string>;
};
type Import = { file: string; specifier: string };

async function sources(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name));
}

async function readPackage(folder: string): Promise<Package> {
  const json = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
    exports?: string | Record<string, string>;
  };
  const paths = typeof json.exports === 'object' ? Object.keys(json.exports) : ['.'];
  return {
    name: json.name,
    folder,
    declared: new Set(Object.keys(json.dependencies ?? {})),
    development: new Set(Object.keys(json.devDependencies ?? {})),
    exported: new Set(paths.map((path) => json.name + path.slice(1))),
  };
}

const statement =
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

async function importsOf(file: string): Promise<Import[]> {
  const text = await readFile(file, 'utf8');
  return [...text.matchAll(statement)].map((m) => ({ file, specifier: (m[1] ?? m[2] ?? m[3])! }));
}

const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** A cycle of the graph as a path, or null. */
function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const next of edges.get(node) ?? []) {
      const cycle = walk(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of edges.keys()) {
    const cycle = walk(node, []);
    if (cycle) return cycle;
  }
  return null;
}

/** The packages in the order of the map in docs/ARCHITECTURE.md. */
async function mappedPackages(): Promise<string[]> {
  const text = await readFile(join(root, 'docs/ARCHITECTURE.md'), 'utf8');
  return [...text.matchAll(/^\| \[`([a-z-]+)`\]\(\.\.\/packages\//gm)].map((row) => `@tradepost/${row[1]!}`);
}

/** Packages that the map lacks, and dependencies on a package that is not above the package. */
export function mapFaults(
  map: readonly string[],
  packages: readonly { readonly name: string; readonly declared: ReadonlySet<string> }[],
): string[] {
  return packages.flatMap(({ name, declared }) => {
    const index = map.indexOf(name);
    if (index < 0) return [`${name} is not in the map of docs/ARCHITECTURE.md`];
    return [...declared]
      .filter((other) => other.startsWith('@tradepost/') && map.indexOf(other) >= index)
      .map((other) => `${name} depends on ${other}, which is not above it in the map of docs/ARCHITECTURE.md`);
  });
}

export async function boundaryFaults(): Promise<string[]> {
  const faults: string[] = [];
  const workspace = await readPackage(root);
  const folders = await readdir(join(root, 'packages'));
  const packages = await Promise.all(folders.map((name) => readPackage(join(root, 'packages', name))));
  const rest = ['bin', 'daemons', 'install', 'test'].map((name) => join(root, name));
  const exported = new Set(packages.flatMap((one) => [...one.exported]));
  const fileEdges = new Map<string, string[]>();

  const check = async (file: string, owner: Package, isTest: boolean) => {
    const where = relative(root, file);
    for (const { specifier } of await importsOf(file)) {
      if (specifier.startsWith('.')) {
        const target = join(file, '..', specifier);
        fileEdges.set(file, [...(fileEdges.get(file) ?? []), target]);
        const crosses = owner !== workspace && !target.startsWith(`${owner.folder}/`);
        if (crosses) faults.push(`${where}: ${specifier} is a file outside of ${owner.name}`);
        if (!isTest && isTestFile(relative(root, target))) faults.push(`${where}: ${specifier} is for tests`);
        if (owner === workspace && target.startsWith(join(root, 'packages')) && !isTest)
          faults.push(`${where}: ${specifier} reaches into a package`);
        continue;
      }
      const name = packageOf(specifier);
      if (specifier.startsWith('node:')) continue;
      if (builtinModules.includes(name)) faults.push(`${where}: write node:${specifier}`);
      else if (name === '@tradepost/testing' && !isTest) faults.push(`${where}: ${specifier} is for tests`);
      else if (name.startsWith('@tradepost/') && !exported.has(specifier) && name !== '@tradepost/testing')
        faults.push(`${where}: ${specifier} reaches into ${name}`);
      else if (name === owner.name) faults.push(`${where}: imports its own package by name`);
      else if (
        !owner.declared.has(name) &&
        !(isTest && [workspace.development, workspace.declared, owner.development].some((names) => names.has(name))) &&
        // Files that only developers run may import development dependencies.
        !(where.endsWith('/generate.ts') && owner.development.has(name))
      )
        faults.push(`${where}: ${name} is not declared in ${relative(root, owner.folder) || '.'}/package.json`);
    }
  };
  for (const owner of packages)
    for (const file of await sources(owner.folder)) await check(file, owner, isTestFile(relative(root, file)));
  for (const folder of rest)
    for (const file of await sources(folder).catch(() => [])) await check(file, workspace, folder.endsWith('test'));

  const packageCycle = findCycle(
    new Map(packages.map((p) => [p.name, [...p.declared].filter((name) => name.startsWith('@tradepost/'))])),
  );
  if (packageCycle) faults.push(`packages depend on each other in a circle: ${packageCycle.join(' -> ')}`);
  faults.push(...mapFaults(await mappedPackages(), packages));
  const fileCycle = findCycle(fileEdges);
  if (fileCycle)
    faults.push(`files import each other in a circle: ${fileCycle.map((f) => relative(root, f)).join(' -> ')}`);
  return faults;
}

if (import.meta.main) {
  const faults = await boundaryFaults();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(faults.length === 0 ? 'boundaries: in order\n' : `boundaries: ${faults.length} faults\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
