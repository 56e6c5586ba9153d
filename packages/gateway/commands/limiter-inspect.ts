import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandContext } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import { type GlobalOptions, print, printJson, stopSignal, table, withDatabaseOptions } from '@tradepost/terminal';
import { Argument, type Command } from 'commander';
import { openLimiterView } from '../limits/open-limiter.ts';
import { type GivenKey, givenKey, keySpelling, resolveKey } from './limiter-key.ts';
import { limitText } from './limits.ts';

type View = ReturnType<typeof openLimiterView>;
type InspectOptions = GlobalOptions & { watch?: boolean };

const watchMs = 1_000;
const storeNames = {
  redis: 'Redis',
  processes: 'the running gateway processes, without Redis',
} as const;

/** The fields are those of the admin route; null is unlimited. */
async function readUsage(runtime: Runtime, view: View, given: GivenKey) {
  const { of, rpm, tpm } = await resolveKey(runtime, given);
  const { requests, tokens, oldestLeavesMs } = await view.inspect(of);
  const left = (limit: number, count: number) => (limit === 0 ? null : Math.max(0, limit - count));
  return {
    ...{ kind: of.kind, key: of.key, store: view.store, requests, tokens },
    limits: { rpm: rpm || null, tpm: tpm || null },
    remaining: { rpm: left(rpm, requests), tpm: left(tpm, tokens) },
    oldest_leaves_ms: oldestLeavesMs === null ? null : Math.ceil(oldestLeavesMs),
  };
}
type Usage = Awaited<ReturnType<typeof readUsage>>;

function usageText({ kind, key, store, requests, tokens, limits, remaining, oldest_leaves_ms: oldest }: Usage): string {
  const line = (name: string, used: number, limit: number | null, left: number | null) => [
    ...[name, String(used), limitText(limit ?? 0), left === null ? '-' : String(left)],
  ];
  const rows = [
    [`${kind}:${key}`, 'LAST 60 S', 'LIMIT', 'LEFT'],
    line('requests', requests, limits.rpm, remaining.rpm),
  ];
  // Addresses have no limit of tokens.
  if (kind !== 'ip') rows.push(line('tokens', tokens, limits.tpm, remaining.tpm));
  const leaves =
    oldest === null ? 'no request counts' : `the oldest request leaves the window in ${(oldest / 1_000).toFixed(1)} s`;
  return `${table(rows)}\n${leaves} (counted by ${storeNames[store]})`;
}

/** Prints the usage every second until a signal arrives. On a terminal it replaces the previous output. */
async function watch(usage: () => Promise<Usage>, json: boolean): Promise<void> {
  const stop = stopSignal();
  let lines = 0;
  while (!stop.signal.aborted) {
    const found = await usage();
    const text = json ? JSON.stringify(found) : usageText(found);
    print(`${lines > 0 ? `\u001b[${lines}A\u001b[J` : ''}${text}`);
    if (!json) lines = text.split('\n').length;
    await sleep(watchMs, undefined, { signal: stop.signal }).catch(() => {});
  }
  stop.release();
}

const inspect =
  (context: CommandContext) =>
  async (given: GivenKey, { watch: isWatching, json = false, ...options }: InspectOptions, command: Command) => {
    if (isWatching && !json && !process.stdout.isTTY)
      command.error('error: --watch needs a terminal, or --json for one line a second');
    await context.withRuntime(options, async (runtime) => {
      const view = openLimiterView(runtime);
      const usage = () => readUsage(runtime, view, given);
      try {
        if (isWatching) return await watch(usage, json);
        const found = await usage();
        if (json) return printJson(found);
        print(usageText(found));
      } finally {
        await view.close();
      }
    });
  };

export function addInspect(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('inspect')
      .addArgument(new Argument('<key>', keySpelling).argParser(givenKey))
      .description(
        'show the usage of one key within the last 60 seconds, its limits in force, and what is left of them',
      )
      .option('--watch', 'refresh every second, until Ctrl-C')
      .option('--json', 'print JSON; with --watch one line each second')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost limiter inspect user:42\n  $ tradepost limiter inspect tp-4fK9aQ2z --watch\n' +
          '  $ tradepost limiter inspect ip:203.0.113.9\n  $ tradepost limiter inspect model:gpt-4o --json\n\n' +
          'Reads the logs on Redis. Without Redis the running gateways answer from their memory.\n' +
          'Exit codes: 0 done, 1 no gateway runs or there is no such key, 2 wrong usage.',
      ),
  ).action(inspect(context));
}
