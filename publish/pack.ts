import { execFile } from 'node:child_process';
import { cp, glob, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * Makes packages that others can install: `npm run pack:packages -- [FOLDER]` writes one tarball for each package of
 * `published`, with compiled ES modules and types. The checkout itself runs the TypeScript sources and needs no build.
 */
const root = join(import.meta.dirname, '..');
const run = promisify(execFile);
/** `tsc` of the checkout. It is a development dependency. */
export const compiler = () =>
  join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

type Manifest = {
  name: string;
  version: string;
  engines?: object;
  keywords?: string[];
  dependencies?: Record<string, string>;
} & Record<string, unknown>;

type Published = {
  readonly folder: string;
  /** Libraries and types that the code may use. Without the types of Node it also runs in browsers and edge runtimes. */
  readonly lib: string;
  readonly types: string;
  /** Packages of this repository that are not published. The tarball contains them. */
  readonly bundled: readonly string[];
};

const published: readonly Published[] = [
  { folder: 'client', lib: 'es2022,dom,dom.iterable,dom.asynciterable', types: '', bundled: [] },
  { folder: 'rate-limiter', lib: 'es2023', types: 'node', bundled: ['core'] },
];

const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(root, 'packages', folder, 'package.json'), 'utf8'));

/** Compiles the sources of a package into `stage/dist`. They are copied first, so that they find only what `stage` has. */
async function compile(folder: string, stage: string, { lib, types }: Pick<Published, 'lib' | 'types'>): Promise<void> {
  const source = join(stage, 'source');
  const isSource = (path: string) => !/node_modules|\.test\.ts$|\/(testing|examples)$/.test(path);
  await cp(join(root, 'packages', folder), source, {
    recursive: true,
    filter: (path) => isSource(relative(root, path)),
  });
  const files = [join(source, 'index.ts')];
  for await (const file of glob('**/*.d.ts', { cwd: source })) files.push(join(source, file));
  const options = [
    ...['--target', 'es2022', '--module', 'nodenext', '--lib', lib, '--types', types, '--strict', '--skipLibCheck'],
    ...['--declaration', '--rewriteRelativeImportExtensions', '--verbatimModuleSyntax'],
    ...['--rootDir', source, '--outDir', join(stage, 'dist')],
  ];
  try {
    await run(process.execPath, [compiler(), '--ignoreConfig', ...options, ...files], { cwd: stage });
  } catch (error) {
    throw new Error(`${folder} does not compile:\n${(error as { stdout?: string }).stdout}`, { cause: error });
  }
  await rm(source, { recursive: true });
}

/** Writes what a tarball has beside the compiled files. */
async function writeManifest(folder: string, stage: string, dependencies: Record<string, string>): Promise<void> {
  const { name, version, description, keywords, license, type, engines } = await manifestOf(folder);
  const entry = { types: './dist/index.d.ts', default: './dist/index.js' };
  const bundled = Object.keys(dependencies).filter((dependency) => dependency.startsWith('@tradepost/'));
  const manifest = {
    ...{ name, version, description, keywords, license, type, engines, sideEffects: false },
    ...{ exports: { '.': entry, './package.json': './package.json' }, types: entry.types, files: ['dist', '*.md'] },
    ...(Object.keys(dependencies).length > 0 ? { dependencies } : {}),
    ...(bundled.length > 0 ? { bundleDependencies: bundled } : {}),
  };
  await writeFile(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Packs a folder with its `package.json` into `target` and returns the tarball. */
export async function packFolder(folder: string, target: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target];
  const { stdout } = await run('npm', args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
  return join(target, packed!.filename);
}

/** Packs one package into `target` and returns the tarball. */
async function pack({ folder, lib, types, bundled }: Published, target: string): Promise<string> {
  // In the checkout, so that the compiler finds the dependencies of the package.
  const stage = await mkdtemp(join(root, '.pack-'));
  try {
    const dependencies = { ...(await manifestOf(folder)).dependencies };
    for (const inner of bundled) {
      const { name, version } = await manifestOf(inner);
      // The compiler writes nothing for sources below node_modules, so the package is moved there afterwards.
      const innerStage = join(stage, 'bundled');
      await mkdir(innerStage);
      await compile(inner, innerStage, { lib, types });
      await writeManifest(inner, innerStage, {});
      await mkdir(dirname(join(stage, 'node_modules', name)), { recursive: true });
      await rename(innerStage, join(stage, 'node_modules', name));
      dependencies[name] = version;
    }
    await compile(folder, stage, { lib, types });
    await writeManifest(folder, stage, dependencies);
    await cp(join(root, 'packages', folder, 'README.md'), join(stage, 'README.md'));
    await cp(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    return await packFolder(stage, target);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Packs all published packages into a folder. Returns the tarballs by package folder. */
export async function packAll(target: string): Promise<Record<string, string>> {
  await mkdir(target, { recursive: true });
  const tarballs: Record<string, string> = {};
  for (const one of published) tarballs[one.folder] = await pack(one, target);
  return tarballs;
}

if (import.meta.main) {
  const target = resolve(process.argv[2] ?? '.');
  for (const tarball of Object.values(await packAll(target)))
    process.stdout.write(`${relative(process.cwd(), tarball)} written\n`);
}
