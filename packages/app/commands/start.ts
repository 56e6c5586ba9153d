import { join } from 'node:path';
import { demoAccounts } from '@tradepost/identity';
import { inventoryProvider } from '@tradepost/inventory';
import type { RegisterCommand } from '@tradepost/module';
import { ConfigError, checkFolder, demoShop, misspeltText, openLog, roles } from '@tradepost/runtime';
import {
  asCalled,
  bold,
  configOf,
  dim,
  exitCodes,
  type GlobalOptions,
  print,
  stopSignal,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { Option } from 'commander';
import { modulesOf } from '../modules.ts';
import { runJobsOnce, type Server, startServer } from '../server.ts';

type StartOptions = GlobalOptions & {
  port?: string;
  host?: string;
  gatewayPort?: string;
  adminPort?: string;
  seed?: string;
  only?: string;
  plain?: boolean;
  once?: boolean;
};

const limiterNames = { embedded: 'in this process', redis: 'Redis', 'redis-cluster': 'Redis cluster' } as const;

/** The lines that are printed when the server is ready. */
function summaryLines(server: Server): string[] {
  const url = server.transport?.url;
  const { publicDocs } = server.runtime.config;
  const lines = url
    ? [`Shop API       ${bold(url)}`, ...(publicDocs ? [`API reference  ${url}/docs`] : [])]
    : server.worker
      ? ['Worker         running, no API in this process']
      : [];
  if (server.gateway)
    lines.push(`LLM gateway    ${server.gateway.url}/v1  (limiter: ${limiterNames[server.limiter ?? 'embedded']})`);
  const admin = server.admin?.url;
  if (admin) lines.push(`Admin          ${admin}/health  ${admin}/ready  ${admin}/metrics`);
  const { embedded, store, config } = server.runtime;
  lines.push(`Database       ${embedded ? `embedded PostgreSQL in ${embedded.dataDirectory}` : 'external PostgreSQL'}`);
  lines.push(`Store          ${store.kind === 'redis' ? 'Redis' : 'in-process'}`);
  if (modulesOf(config).some(({ name }) => name === 'inventory')) {
    const provider = server.runtime.settings.get(inventoryProvider);
    if (provider !== inventoryProvider.fallback) lines.push(`Stock          ${provider}`);
  }
  if (server.runtime.settings.get(demoShop) && !config.production && url) {
    const accounts = demoAccounts.map((a) => `${a.username} / ${a.password} (${a.kind})`);
    lines.push(`Demo accounts  ${accounts.join(', ')}`);
  }
  return lines;
}

/** Stops the server once, then ends the process. */
function openShutdown(say: (line: string) => void) {
  let server: Server | null = null;
  let early: string | null = null;
  let stopping = false;
  const stop = (reason: string, code: number): void => {
    if (stopping) return;
    stopping = true;
    void (async () => {
      say(`${reason}: finishing the running work, then stopping`);
      await server?.stop();
      say('stopped');
      process.exit(code);
    })();
  };
  // A signal during the start takes effect when the start has ended, so that nothing stays half open.
  stopSignal(
    (reason) => {
      if (server) stop(reason, exitCodes.done);
      else early = reason;
    },
    { isServer: true },
  );
  return {
    stop,
    /** Call it when the server runs. Returns false when a signal arrived during the start: the server then stops. */
    started(opened: Server): boolean {
      server = opened;
      if (early !== null) stop(early, exitCodes.done);
      return early === null;
    },
  };
}

const readyText = (server: Server, seconds: number) =>
  ['', `Tradepost is ready (${seconds.toFixed(1)} s)`, '', ...summaryLines(server), ''].join('\n');

async function start(options: StartOptions): Promise<void> {
  const { plain, once, ...flags } = options;
  const { config, sources, misspelt } = configOf(flags);
  // Whatever the database has: an operator who asks for demo data must not believe that this is a demo shop.
  if (config.production && config.seed === 'demo' && sources.seed !== 'default')
    throw new ConfigError([
      'TRADEPOST_SEED: NODE_ENV=production refuses demo data, whose passwords are public; set none',
    ]);
  if (once) {
    if (config.only.join() !== 'worker') throw new ConfigError(['--once: only with --only worker']);
    return runJobsOnce({ config, log: openLog({ level: config.logLevel }) });
  }
  const live = process.stdout.isTTY && !plain && config.logLevel !== 'silent';
  const logFile = live ? join(config.data, 'tradepost.log') : undefined;
  const log = openLog({ level: config.logLevel, file: logFile });
  for (const variable of misspelt) log.warn(misspeltText(variable));
  const { fault } = await checkFolder(config.data);
  if (fault !== null)
    log.error({ folder: config.data }, `data folder: ${fault}: uploads and new keys of secrets are refused`);
  const begun = performance.now();
  const say = live ? (line: string) => print(dim(line)) : print;
  const shutdown = openShutdown(say);
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  const onFatal = (reason: string) => {
    log.fatal({ reason }, 'a required part of the shop has ended');
    // Where the log is on stderr, the line above has said it.
    if (logFile !== undefined || config.logLevel === 'silent') process.stderr.write(`error: ${reason}\n`);
    shutdown.stop('giving up', exitCodes.failed);
  };
  const server = await startServer({ config, log, onProgress: say, onFatal });
  if (!shutdown.started(server)) return;
  if (server.seeded) say(`demo shop: ${server.seeded.products} products, ${server.seeded.skus} SKUs`);
  else if (config.production && config.seed === 'demo')
    say(asCalled('production: no demo data; `tradepost staff create` makes accounts'));
  print(readyText(server, (performance.now() - begun) / 1000));
  if (logFile !== undefined) {
    const { showLiveStatus } = await import('./live-status.ts');
    showLiveStatus(server, { logFile, onQuit: () => shutdown.stop('quit', exitCodes.done) });
  }
}

export const register: RegisterCommand = (command) => {
  withDatabaseOptions(
    command
      .option('--port <number>', 'port of the API (default 8080)')
      .option('--host <address>', 'address to listen on (default 127.0.0.1)')
      .option('--gateway-port <number>', 'port of the LLM gateway (default 8081)')
      .option('--admin-port <port>', 'port of the admin listener (default 8082, or a free one), or off')
      .addOption(
        new Option('--seed <what>', 'data for an empty database; demo is the default for the embedded one').choices([
          'demo',
          'none',
        ]),
      )
      // The choices are for completion. The parser accepts lists of them, which the configuration checks.
      .addOption(
        new Option('--only <parts>', 'parts to run, comma-separated').choices(roles).argParser((parts) => parts),
      )
      .option('--once', 'with --only worker: run the jobs that are due, then end')
      .option('--plain', 'print plain lines instead of the live status, also on a terminal')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost start\n  $ tradepost start --port 9000 --data /srv/shop\n  $ tradepost start --only worker --database-url postgres://shop@db/shop\n\nExit codes: 0 stopped by a signal, 1 failed, 2 wrong configuration, 3 already running on this data.',
      ),
  ).action(start);
};
