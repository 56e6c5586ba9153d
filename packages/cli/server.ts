import { type Route, serve, type Transport } from '@tradepost/http';
import type { Tokens } from '@tradepost/identity';
import {
  type Config,
  type Log,
  openRuntime,
  type Runtime,
  runDueJobs,
  startWorker,
  type Worker,
} from '@tradepost/runtime';
import { type Assembled, assemble, settings } from './assemble.ts';
import { type Seeded, seedDemo } from './seed-demo.ts';

export type Server = {
  runtime: Runtime;
  routes: readonly Route[];
  tokens: Tokens;
  /** Absent when only the worker runs. */
  transport: Transport | null;
  worker: Worker | null;
  seeded: Seeded | null;
  /** Stops accepting, finishes what runs, closes everything; within the configured deadline. */
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

/** Runs the jobs that are due and ends; beside a running server or without one. For cron. */
export async function runJobsOnce(options: { config: Config; log: Log }): Promise<void> {
  const runtime = await openRuntime({ ...options, definitions: settings });
  try {
    const assembled = await assemble(runtime);
    await runDueJobs(workerDeps(runtime, assembled));
    await assembled.close();
  } finally {
    await runtime.close();
  }
}

/** Opens the database, seeds an empty one, and runs the configured parts in this process. */
export async function startServer(options: {
  config: Config;
  log?: Log;
  onProgress?: (line: string) => void;
  onFatal?: (reason: string) => void;
}): Promise<Server> {
  const { config, onProgress } = options;
  const runtime = await openRuntime({ ...options, definitions: settings, serve: true });
  const closers: (() => Promise<unknown>)[] = [() => runtime.close()];
  const shutdownMs = config.shutdownSeconds * 1000;
  const stop = async () => {
    for (const close of closers.splice(0).reverse())
      await close().catch((error: unknown) => runtime.log.warn({ err: error }, 'while stopping'));
  };
  try {
    const assembled = await assemble(runtime);
    closers.push(() => assembled.close());
    let seeded: Seeded | null = null;
    if (config.seed === 'demo' && !config.production) {
      onProgress?.('looking for demo data');
      seeded = await seedDemo(runtime.sql);
    }
    let worker: Worker | null = null;
    if (config.only.includes('worker')) {
      const started = await startWorker({ ...workerDeps(runtime, assembled), crons: assembled.crons });
      worker = started;
      closers.push(() => started.stop());
    }
    let transport: Transport | null = null;
    if (config.only.includes('api')) {
      const listening = await serve(assembled.app, config, runtime.log);
      transport = listening;
      closers.push(() => listening.close(shutdownMs));
    }
    await runtime.announce(transport?.url ?? 'worker only');
    return { runtime, routes: assembled.app.routes, tokens: assembled.tokens, transport, worker, seeded, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
