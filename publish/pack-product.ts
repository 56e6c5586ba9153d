import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { packFolder } from './pack.ts';

/**
 * Packs the whole product as one package that `npm install --global` installs: `npm run pack:product -- [FOLDER]`. Node refuses to
 * run TypeScript below `node_modules`, so the sources are stored without their types, in the folders of the checkout. Their
 * dependencies have the versions of the lock file.
 */
const root = join(import.meta.dirname, '..');
const json = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));

/** The driver of PostgreSQL is patched, so the package contains it. */
const bundled = ['postgres'];

/** Not needed to run: tests, generators of files of the repository, documents of packages. */
const isLeftOut = (path: string) =>
  /(^|\/)(node_modules|testing|examples|package\.json|generate\.ts|[^/]+\.test\.ts|[^/]+\.d\.ts|need-development\.ts)$/.test(
    path,
  ) || /^packages\/.*\.md$/.test(path);

type Manifest = { name: string; exports?: string | Record<string, string>; dependencies?: Record<string, string> };
type Lock = { packages: Record<string, { name?: string; version?: string }> };

async function packageManifests(): Promise<Map<string, Manifest>> {
  const names = (await readdir(join(root, 'packages'))).filter((name) => name !== 'testing');
  return new Map(
    await Promise.all(names.map(async (name) => [name, await json(`packages/${name}/package.json`)] as const)),
  );
}

/** The files that other packages import, by what they write: `@tradepost/app/version`. */
function exportedFiles(manifests: ReadonlyMap<string, Manifest>): Map<string, string> {
  const files = new Map<string, string>();
  for (const [folder, { name, exports = './index.ts' }] of manifests)
    for (const [path, file] of Object.entries(typeof exports === 'string' ? { '.': exports } : exports))
      files.set(posix.join(name, path), posix.join('packages', folder, file));
  return files;
}

const specifier = /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"]+)\2/g;

/** Source text as JavaScript: without types, with imports of files. `path` is relative to the root of the checkout. */
function toJavaScript(text: string, path: string, exported: ReadonlyMap<string, string>): string {
  return stripTypeScriptTypes(text).replaceAll(specifier, (whole, before: string, quote: string, name: string) => {
    if (name.startsWith('.')) return `${before}${quote}${name.replace(/\.ts$/, '.js')}${quote}`;
    const target = exported.get(name);
    if (target === undefined) return whole;
    const file = posix.relative(posix.dirname(path), target).replace(/\.ts$/, '.js');
    return `${before}${quote}${file.startsWith('.') ? file : `./${file}`}${quote}`;
  });
}

async function stageFolder(folder: string, stage: string, exported: ReadonlyMap<string, string>): Promise<void> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name);
    if (isLeftOut(path) || path === 'packages/testing') continue;
    if (entry.isDirectory()) await stageFolder(path, stage, exported);
    else {
      const target = join(stage, path);
      await mkdir(dirname(target), { recursive: true });
      if (path.endsWith('.ts')) {
        const text = toJavaScript(await readFile(join(root, path), 'utf8'), path, exported);
        await writeFile(target.replace(/\.ts$/, '.js'), text, { mode: folder === 'bin' ? 0o755 : 0o644 });
      } else await cp(join(root, path), target);
    }
  }
}

/** The dependencies of all packages with the versions of the lock file. */
function pinned(manifests: ReadonlyMap<string, Manifest>, { packages }: Lock): Record<string, string> {
  const names = [...manifests.values()].flatMap(({ dependencies = {} }) => Object.keys(dependencies));
  const others = [...new Set(names)].filter((name) => !name.startsWith('@tradepost/')).sort();
  return Object.fromEntries(
    others.map((name) => {
      const { name: alias, version } = packages[`node_modules/${name}`] ?? {};
      if (version === undefined) throw new Error(`${name} is not in package-lock.json`);
      return [name, alias ? `npm:${alias}@${version}` : version];
    }),
  );
}

/** Packs the product into `target` and returns the tarball. */
export async function packProduct(target: string): Promise<string> {
  const stage = await mkdtemp(join(root, '.pack-'));
  try {
    const manifests = await packageManifests();
    const exported = exportedFiles(manifests);
    for (const folder of ['bin', 'daemons', 'install', 'packages', 'sql', 'fixtures', 'docs'])
      await stageFolder(folder, stage, exported);
    // Their folders have CommonJS.
    for (const folder of ['bin', 'daemons'])
      await cp(join(root, folder, 'package.json'), join(stage, folder, 'package.json'));
    for (const file of ['README.md', 'CHANGELOG.md', 'LICENSE']) await cp(join(root, file), join(stage, file));
    for (const name of bundled)
      await cp(join(root, 'node_modules', name), join(stage, 'node_modules', name), { recursive: true });
    const { name, version, description, license, type } = await json('package.json');
    const manifest = {
      ...{ name, version, description, license, type, bin: { tradepost: 'bin/tradepost.js' } },
      ...{ engines: { node: '>=22.18' }, scripts: { postinstall: 'node install/trim.js' } },
      ...{ dependencies: pinned(manifests, await json('package-lock.json')), bundleDependencies: bundled },
    };
    await writeFile(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await mkdir(target, { recursive: true });
    return await packFolder(stage, target);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const tarball = await packProduct(resolve(process.argv[2] ?? '.'));
  process.stdout.write(`${relative(process.cwd(), tarball)} written\n`);
}
