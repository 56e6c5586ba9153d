import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayFault } from '@tradepost/gateway';
import { countBodies, openAdmin, type Route, serve, type Transport } from '@tradepost/http';
import type { Tokens } from '@tradepost/identity';
import type { DemoCounts } from '@tradepost/module';
import {
  announceProcess,
  type Config,
  exposeJobs,
  type Log,
  noRest,
  openLog,
  openRuntime,
  type Runtime,
  runDueJobs,
  sealPlainSettings,
  startLoops,
  startWorker,
  unlockJobs,
  type Worker,
} from '@tradepost/runtime';
import { type Assembled, assemble } from './assemble.ts';
import { checkPort } from './check-port.ts';
import { upgradeEmbedded } from './embedded-upgrade/upgrade-embedded.ts';
import { modulesOf, settings, settingsOf } from './modules.ts';
import { startDemo } from './seed-demo.ts';
import { version } from './version.ts';

export type Server = {
  runtime: Runtime;
  routes: readonly Route[];
  tokens: Tokens;
  /** The API port; null when this process runs no API. */
  transport: Transport | null;
  /** The LLM gateway port; null when this process runs no gateway. */
  gateway: Transport | null;
  /** The admin listener; null when it is off. */
  admin: Transport | null;
  /** The kind of limiter store; null when this process runs no gateway. */
  limiter: Assembled['limiter'];
  worker: Worker | null;
  seeded: DemoCounts | null;
  /**
   * While DRAIN_SECONDS only `/ready` fails. Then it refuses new work, finishes running work, and closes everything, within
   * SHUTDOWN_SECONDS.
   */
  stop(): Promise<void>;
};

const workerDeps = (runtime: Runtime, { tasks }: Assembled) => ({
  url: runtime.databaseUrl,
  tasks,
  concurrency: runtime.config.workerConcurrency,
  log: runtime.log,
  metrics: runtime.metrics,
  shutdownMs: runtime.config.shutdownSeconds * 1000,
});

/** Runs the jobs that are due, then ends. Meant for cron; a server may run at the same time. */
export async function runJobsOnce(options: { config: Config; log: Log }): Promise<void> {
  const runtime = await openRuntime({ ...options, definitions: settingsOf(options.config), version });
  try {
    const assembled = await assemble(runtime);
    try {
      // Loops first: the jobs that they enqueue are then due.
      for (const { run } of assembled.loops) await run(new AbortController().signal, noRest);
      await runDueJobs(workerDeps(runtime, assembled));
    } finally {
      await assembled.close();
    }
  } finally {
    await runtime.close();
  }
}

/**
 * Encrypts the secrets that an older version has stored, also those of modules that are switched off. Without a usable key file
 * they stay as they are, and the shop starts.
 */
async function sealPlain(runtime: Runtime): Promise<void> {
  await sealPlainSettings(runtime, settings).catch((error: unknown) =>
    runtime.log.error({ err: error }, 'stored secrets that are not encrypted stay so until the next start'),
  );
}

async function runWorker(runtime: Runtime, assembled: Assembled): Promise<Worker> {
  if (runtime.embedded) await unlockJobs(runtime.databaseUrl);
  const worker = await startWorker({ ...workerDeps(runtime, assembled), crons: assembled.crons });
  runtime.parts.add('worker', () => {
    if (!worker.isRunning()) throw new Error('it has ended and is being started again');
  });
  return worker;
}

/** Null when this process runs no gateway. */
async function serveGateway(runtime: Runtime, assembled: Assembled): Promise<Transport | null> {
  const { gatewayFetch: fetch, gatewayBodyLimitOf: bodyLimitOf } = assembled;
  if (!fetch) return null;
  const { config, log, metrics } = runtime;
  const { gatewayPort: port, gatewayMaxBodyBytes: maxBodyBytes, gatewayMaxBufferedBytes: maxBufferedBytes } = config;
  const ports = { ...config, port, maxBodyBytes, maxBufferedBytes };
  const gateway = await serve({ fetch, bodyLimitOf }, ports, log, gatewayFault);
  countBodies(metrics, 'gateway', gateway);
  return gateway;
}

/** Checks all ports before anything is opened or created. */
async function checkPorts(config: Config): Promise<void> {
  const runsGateway = config.only.includes('gateway') && modulesOf(config).some(({ name }) => name === 'gateway');
  if (config.only.includes('api')) await checkPort(config, config.port, '--port');
  if (runsGateway) await checkPort(config, config.gatewayPort, '--gateway-port');
  if (typeof config.adminPort === 'number')
    await checkPort({ ...config, host: config.adminHost }, config.adminPort, '--admin-port');
}

/** Opens the database, seeds it when it is empty, and runs the configured parts in this process. */
export async function startServer(options: {
  config: Config;
  log?: Log;
  onProgress?: (line: string) => void;
  onFatal?: (reason: string) => void;
}): Promise<Server> {
  const { config, onProgress } = options;
  const definitions = settingsOf(config);
  await checkPorts(config);
  await upgradeEmbedded(config, options.log ?? openLog({ level: config.logLevel }), onProgress ?? (() => {}));
  const runtime = await openRuntime({ ...options, definitions, serve: true, version });
  const shutdownMs = config.shutdownSeconds * 1000;
  // Behind a proxy an idle connection may carry its next request at any moment.
  const closing = { keepIdle: config.drainSeconds > 0 };
  /** Functions that end the parts that accept work. All are called at once, before the modules and the runtime close. */
  const endings: (() => Promise<unknown>)[] = [];
  let closeAssembled = async () => {};
  let closeAdmin = async () => {};
  let state: 'starting' | 'running' | 'stopping' = 'starting';
  const logFailure = (ending: Promise<unknown>) =>
    ending.catch((error: unknown) => runtime.log.warn({ err: error }, 'while stopping'));
  const stop = async () => {
    const listens = state === 'running' && (config.only.includes('api') || config.only.includes('gateway'));
    state = 'stopping';
    if (listens && config.drainSeconds > 0) {
      runtime.log.info(
        { drain_seconds: config.drainSeconds },
        'draining: not ready from now on, so that a proxy turns away; requests are served until the port closes',
      );
      await sleep(config.drainSeconds * 1000);
    }
    const deadline = performance.now() + shutdownMs;
    const ended = Promise.all(endings.splice(0).map((end) => logFailure(end())));
    await Promise.race([ended, sleep(shutdownMs, undefined, { ref: false })]);
    await logFailure(closeAssembled());
    await logFailure(closeAdmin());
    await logFailure(runtime.close(Math.max(500, deadline - performance.now())));
  };
  try {
    runtime.parts.add('process', () => {
      if (state !== 'running') throw new Error(state === 'starting' ? 'it is being started' : 'it is being stopped');
    });
    exposeJobs(runtime);
    const admin = await openAdmin(runtime, version);
    // It answers until the running work has ended, so that an operator sees the stop.
    closeAdmin = async () => admin?.close(500);
    await sealPlain(runtime);
    const assembled = await assemble(runtime);
    closeAssembled = assembled.close;
    let seeded: DemoCounts | null = null;
    if (config.seed === 'demo' && !config.production) {
      onProgress?.('checking for demo data');
      seeded = await startDemo(runtime);
    }
    const announced = await announceProcess(runtime, version);
    endings.push(async () => announced.stop());
    const worker = config.only.includes('worker') ? await runWorker(runtime, assembled) : null;
    if (worker) endings.push(() => worker.stop(), startLoops(assembled.loops, runtime.log).stop);
    let transport: Transport | null = null;
    if (config.only.includes('api')) {
      const listening = await serve(assembled.app, config, runtime.log);
      countBodies(runtime.metrics, 'api', listening);
      transport = listening;
      endings.push(() => listening.close(shutdownMs, closing));
    }
    const gateway = await serveGateway(runtime, assembled);
    if (gateway) endings.push(() => gateway.close(shutdownMs, closing));
    await runtime.announce(transport?.url ?? gateway?.url ?? 'worker only');
    state = 'running';
    const { app, tokens, limiter } = assembled;
    return { runtime, routes: app.routes, tokens, transport, gateway, admin, limiter, worker, seeded, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
