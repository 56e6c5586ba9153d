import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayFault } from '@tradepost/gateway';
import { countBodies, type Route, serve, type Transport } from '@tradepost/http';
import type { Tokens } from '@tradepost/identity';
import type { DemoCounts } from '@tradepost/module';
import {
  type Config,
  type Log,
  noRest,
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
import { settings, settingsOf } from './modules.ts';
import { startDemo } from './seed-demo.ts';

export type Server = {
  runtime: Runtime;
  routes: readonly Route[];
  tokens: Tokens;
  /** The API port; null when this process runs no API. */
  transport: Transport | null;
  /** The LLM gateway port; null when this process runs no gateway. */
  gateway: Transport | null;
  /** The kind of limiter store; null when this process runs no gateway. */
  limiter: Assembled['limiter'];
  worker: Worker | null;
  seeded: DemoCounts | null;
  /** Refuses new work, finishes running work, and closes everything, within SHUTDOWN_SECONDS. */
  stop(): Promise<void>;
};

/** Throws when the port cannot be bound. It runs before anything is opened or created. */
async function checkPort({ host, data }: Config, port: number, flag: string): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The server on this port may use this data folder. The error of the instance lock then says more.
    if (code === 'EADDRINUSE' && existsSync(join(data, 'instance.json'))) return;
    if (code === 'EADDRINUSE') throw new Error(`Port ${port} of ${host} is in use: give another one with ${flag}`);
    throw new Error(`Cannot listen on ${host}:${port} (${code}): --host must be an address of this machine`);
  } finally {
    probe.close();
  }
}

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
  const runtime = await openRuntime({ ...options, definitions: settingsOf(options.config) });
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

/** Opens the database, seeds it when it is empty, and runs the configured parts in this process. */
export async function startServer(options: {
  config: Config;
  log?: Log;
  onProgress?: (line: string) => void;
  onFatal?: (reason: string) => void;
}): Promise<Server> {
  const { config, onProgress } = options;
  if (config.only.includes('api')) await checkPort(config, config.port, '--port');
  if (config.only.includes('gateway')) await checkPort(config, config.gatewayPort, '--gateway-port');
  const definitions = settingsOf(config);
  const runtime = await openRuntime({ ...options, definitions, serve: true });
  const shutdownMs = config.shutdownSeconds * 1000;
  /** Functions that end the parts that accept work. All are called at once, before the modules and the runtime close. */
  const endings: (() => Promise<unknown>)[] = [];
  let closeAssembled = async () => {};
  const logFailure = (ending: Promise<unknown>) =>
    ending.catch((error: unknown) => runtime.log.warn({ err: error }, 'while stopping'));
  const stop = async () => {
    const deadline = performance.now() + shutdownMs;
    const ended = Promise.all(endings.splice(0).map((end) => logFailure(end())));
    await Promise.race([ended, sleep(shutdownMs, undefined, { ref: false })]);
    await logFailure(closeAssembled());
    await logFailure(runtime.close(Math.max(500, deadline - performance.now())));
  };
  try {
    await sealPlain(runtime);
    const assembled = await assemble(runtime);
    closeAssembled = assembled.close;
    let seeded: DemoCounts | null = null;
    if (config.seed === 'demo' && !config.production) {
      onProgress?.('checking for demo data');
      seeded = await startDemo(runtime);
    }
    let worker: Worker | null = null;
    if (config.only.includes('worker')) {
      if (runtime.embedded) await unlockJobs(runtime.databaseUrl);
      const started = await startWorker({
        ...workerDeps(runtime, assembled),
        crons: assembled.crons,
      });
      worker = started;
      const loops = startLoops(assembled.loops, runtime.log);
      endings.push(() => started.stop(), loops.stop);
    }
    let transport: Transport | null = null;
    if (config.only.includes('api')) {
      const listening = await serve(assembled.app, config, runtime.log);
      countBodies(runtime.metrics, 'api', listening);
      transport = listening;
      endings.push(() => listening.close(shutdownMs));
    }
    let gateway: Transport | null = null;
    if (assembled.gatewayFetch) {
      const {
        gatewayPort: port,
        gatewayMaxBodyBytes: maxBodyBytes,
        gatewayMaxBufferedBytes: maxBufferedBytes,
      } = config;
      const app = { fetch: assembled.gatewayFetch, bodyLimitOf: assembled.gatewayBodyLimitOf };
      const listening = await serve(
        app,
        { ...config, port, maxBodyBytes, maxBufferedBytes },
        runtime.log,
        gatewayFault,
      );
      countBodies(runtime.metrics, 'gateway', listening);
      gateway = listening;
      endings.push(() => listening.close(shutdownMs));
    }
    await runtime.announce(transport?.url ?? gateway?.url ?? 'worker only');
    const { app, tokens, limiter } = assembled;
    return { runtime, routes: app.routes, tokens, transport, gateway, limiter, worker, seeded, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
