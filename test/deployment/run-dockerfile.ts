import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { root as checkout } from '../architecture/tree.ts';
import { execForm, type Instruction, ignoredBy, pairsOf, parseDockerfile } from './dockerfile.ts';

/** A root folder in which the instructions of a Dockerfile have run. */
export type Image = {
  root: string;
  env: Record<string, string>;
  workdir: string;
  user: string;
  /** ENTRYPOINT and CMD. */
  command: string[];
  healthcheck: string[];
  /** Starts a program in the root as the user of the image, without any other variable than `env`. */
  start(command: readonly string[], env?: Record<string, string>): ChildProcess;
  remove(): Promise<void>;
};

async function runToEnd(child: ChildProcess, what: string): Promise<void> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-4_000);
    });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${what} ended with ${code}: ${output}`);
}

const program = (file: string, args: readonly string[]) =>
  runToEnd(spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] }), file);

/** What a shell, Node.js, npm and `install` need. They are unpacked and not set up, which takes a tenth of the time. */
const packages = ['base-files', 'coreutils', 'dash', 'grep', 'libc-bin', 'libstdc++6', 'sed'];
const accounts = {
  passwd: ['root:x:0:0:root:/root:/bin/sh', 'node:x:1000:1000::/home/node:/bin/sh'],
  group: ['root:x:0:', 'node:x:1000:'],
};

/** What node:22-bookworm-slim has: Debian, Node.js 22, npm, and the user node with the number 1000. */
async function makeBase(folder: string, npm: Npm): Promise<void> {
  await program('mmdebstrap', [
    ...['--quiet', '--variant=extract', `--include=${packages.join(',')}`, 'bookworm', folder],
  ]);
  for (const [name, lines] of Object.entries(accounts))
    await writeFile(join(folder, 'etc', name), `${lines.join('\n')}\n`);
  await mkdir(join(folder, 'home/node'), { recursive: true });
  await chown(join(folder, 'home/node'), 1000, 1000);
  await cp(join(checkout, 'node_modules/node/bin/node'), join(folder, 'usr/local/bin/node'));
  await chmod(join(folder, 'usr/local/bin/node'), 0o755);
  await cp(npm.library, join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'));
}

type Npm = {
  /** The folder of the program. */
  library: string;
  cache: string;
  /** Its settings: the file of this machine and the place where npm looks for it in the root. */
  settings: (readonly [string, string])[];
};

/** The npm of this machine, so that `npm ci` in the root asks the same registry with the same cache. */
async function npmOfMachine(): Promise<Npm> {
  // A program `npm` on the path may also be a script that starts npm.
  const found = (process.env.PATH ?? '').split(':').map((folder) => realpath(join(folder, 'npm')).catch(() => ''));
  const cli = [process.env.npm_execpath ?? '', ...(await Promise.all(found))].find((file) => /npm-cli\.js$/.test(file));
  if (cli === undefined) throw new Error('npm is not on the path');
  const library = dirname(dirname(cli));
  const asked = [cli, 'config', 'list', '--json'];
  const child = spawn(process.execPath, asked, { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await once(child, 'close');
  const { cache, userconfig } = JSON.parse(text) as Record<string, string>;
  const settings = [
    [userconfig!, '/root/.npmrc'],
    [join(library, '../../../etc/npmrc'), '/usr/local/etc/npmrc'],
  ] as const;
  return { library, cache: cache!, settings: settings.filter(([file]) => existsSync(file)) };
}

/** Not in the home folder, which the image empties: that would copy the cache. */
const cachePath = '/var/cache/npm';
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Mounts what a RUN instruction sees of this machine: /proc, /dev, name resolution, certificates, and the settings and the cache of
 * npm. The mounts are in a namespace of the command and end with it. What is written to the cache goes to `upper`.
 */
function mountsOf(root: string, upper: string, { cache, settings }: Npm): string[] {
  const inRoot = (path: string) => quoted(join(root, path));
  const files = [['/etc/resolv.conf', '/etc/resolv.conf'], ['/etc/hosts', '/etc/hosts'], ...settings] as const;
  const layers = `lowerdir=${quoted(cache)},upperdir=${quoted(upper)}/files,workdir=${quoted(upper)}/work`;
  return [
    `mkdir -p ${['proc', 'dev', cachePath, 'etc/ssl/certs'].map(inRoot).join(' ')}`,
    `mkdir -p ${quoted(upper)}/files ${quoted(upper)}/work ${quoted(cache)}`,
    ...files.flatMap(([from, to]) => [
      `mkdir -p ${inRoot(dirname(to))}`,
      `touch ${inRoot(to)}`,
      `mount --bind ${quoted(from)} ${inRoot(to)}`,
    ]),
    `mount -t proc proc ${inRoot('proc')}`,
    `mount --rbind /dev ${inRoot('dev')}`,
    `mount --bind /etc/ssl/certs ${inRoot('etc/ssl/certs')}`,
    `mount -t overlay -o ${layers} npm ${inRoot(cachePath)}`,
  ];
}

async function copyContext(to: string): Promise<void> {
  const isIgnored = ignoredBy(await readFile(join(checkout, '.dockerignore'), 'utf8'));
  await mkdir(to, { recursive: true });
  await cp(checkout, to, {
    recursive: true,
    filter: async (path) => {
      const inContext = relative(checkout, path);
      return inContext === '' || (!isIgnored(inContext) && !(await lstat(path)).isSocket());
    },
  });
}

type State = Pick<Image, 'env' | 'workdir' | 'user' | 'command' | 'healthcheck'> & { entrypoint: string[] };

/** Instructions that only describe the image. */
const described = new Set(['EXPOSE', 'VOLUME', 'STOPSIGNAL']);

async function apply({ name, args }: Instruction, state: State, root: string, run: (script: string) => Promise<void>) {
  if (name === 'ENV') Object.assign(state.env, pairsOf(args));
  else if (name === 'WORKDIR') {
    state.workdir = args;
    await mkdir(join(root, args), { recursive: true });
  } else if (name === 'COPY') {
    if (args !== '. .') throw new Error(`this COPY is not known here: ${args}`);
    await copyContext(join(root, state.workdir));
  } else if (name === 'RUN') await run(args);
  else if (name === 'USER') state.user = args;
  else if (name === 'ENTRYPOINT') state.entrypoint = execForm(args);
  else if (name === 'CMD') state.command = execForm(args);
  else if (name === 'HEALTHCHECK') state.healthcheck = execForm(args.slice(args.indexOf('CMD ') + 4));
  else if (!described.has(name)) throw new Error(`${name} is not known here`);
}

/** Runs a Dockerfile from `node:22-bookworm-slim` in a new Debian root. Needs root and mmdebstrap, and no Docker. */
export async function runDockerfile(text: string, onStep: (line: string) => void = () => {}): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-image-'));
  await chmod(folder, 0o755);
  const root = join(folder, 'root');
  const npm = await npmOfMachine();
  const state: State = { env: {}, workdir: '/', user: 'root', command: [], healthcheck: [], entrypoint: [] };
  const path = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
  const chroot = (script: string, user: string, env: Record<string, string>) => {
    const variables = Object.entries({ ...path, ...state.env, ...env }).map(([key, value]) =>
      quoted(`${key}=${value}`),
    );
    return `exec chroot --userspec=${user} ${quoted(root)} env -i ${variables.join(' ')} sh -c ${quoted(`cd ${state.workdir} && exec ${script}`)}`;
  };
  const inNamespace = (lines: readonly string[]) =>
    spawn('unshare', ['--mount', 'sh', '-ec', lines.join('\n')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const run = async (script: string) => {
    const mounts = mountsOf(root, join(folder, 'npm'), npm);
    const network = {
      NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
      HOME: '/root',
      npm_config_cache: cachePath,
    };
    await runToEnd(inNamespace([...mounts, chroot(`sh -ec ${quoted(script)}`, state.user, network)]), `RUN ${script}`);
  };
  try {
    const [from, ...steps] = parseDockerfile(text);
    if (from?.name !== 'FROM' || from.args !== 'node:22-bookworm-slim')
      throw new Error('another base than in the test');
    const begun = performance.now();
    const said = (step: string) => onStep(`${((performance.now() - begun) / 1000).toFixed(1)} s: ${step}`);
    await makeBase(root, npm);
    said('base');
    for (const step of steps) {
      await apply(step, state, root, run);
      said(`${step.name} ${step.args}`);
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    ...state,
    root,
    command: [...state.entrypoint, ...state.command],
    start: (command, env = {}) =>
      inNamespace([
        `mount -t proc proc ${quoted(join(root, 'proc'))}`,
        `mount --rbind /dev ${quoted(join(root, 'dev'))}`,
        chroot(command.map(quoted).join(' '), state.user, env),
      ]),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
