import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.ts';
import { messageOf } from './system.ts';

/** After more unexpected ends within the window, the supervisor gives up. */
const maxCrashes = 3;
const crashWindowMs = 60_000;

export type SupervisedPostgres = EmbeddedPostgres & {
  /** Whether the server has ended and is being started again. */
  isAway(): boolean;
  /** Ends the supervision. The server keeps running for other processes. */
  leave(): void;
};

export type SupervisorOptions = Omit<EmbeddedPostgresOptions, 'onExit' | 'port'> & {
  /** The server has ended unexpectedly and is being started again. */
  onAway?: (reason: string) => void;
  /** The server accepts connections again, at the same address. */
  onBack?: (awayMs: number) => void;
  /** The server ended too often, or cannot be started again. The supervisor gives up. */
  onFatal?: (reason: string) => void;
};

/** Starts the embedded server. When the server ends unexpectedly, it is started again on the same port. */
export async function superviseEmbeddedPostgres(options: SupervisorOptions): Promise<SupervisedPostgres> {
  const { onAway, onBack, onFatal, ...startOptions } = options;
  const crashes: number[] = [];
  let away = false;
  let stopping = false;
  let restarting: Promise<void> = Promise.resolve();
  const start = (port?: number) =>
    startEmbeddedPostgres({
      ...startOptions,
      ...(port === undefined ? {} : { port }),
      onExit: (reason) => {
        restarting = restart(reason);
      },
    });

  async function restart(reason: string): Promise<void> {
    if (stopping) return;
    away = true;
    const since = performance.now();
    crashes.push(since);
    while (since - crashes[0]! > crashWindowMs) crashes.shift();
    if (crashes.length > maxCrashes)
      return onFatal?.(`${reason}. It ended ${crashes.length} times within ${crashWindowMs / 1000} s: giving up`);
    onAway?.(reason);
    const again = await start(port).catch((error: unknown) => {
      if (!stopping) onFatal?.(`${reason}. It cannot be started again: ${messageOf(error)}`);
      return null;
    });
    if (!again) return;
    current = again;
    if (again.url !== first.url) return onFatal?.(`${reason}. Another process started it again at another port`);
    away = false;
    if (!stopping) onBack?.(performance.now() - since);
  }

  const first = await start();
  const port = Number(new URL(first.url).port);
  let current = first;
  return {
    ...first,
    isAway: () => away,
    leave() {
      stopping = true;
    },
    async stop() {
      stopping = true;
      await restarting;
      await current.stop();
    },
  };
}
