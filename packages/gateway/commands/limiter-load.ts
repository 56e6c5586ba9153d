import { dimensions, maxCost } from '@tradepost/rate-limiter';
import {
  print,
  printJson,
  progress,
  refuseSecretOption,
  stopSignal,
  warnOfPassword,
  wholeNumber,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { type Distribution, distributions } from '../limiter-load/in-process/mix.ts';
import {
  checkUsage,
  costRange,
  durationMs,
  gatewayUrl,
  givenLimits,
  inProcessLimits,
  type LoadOptions,
} from '../limiter-load/load-options.ts';
import type { LoadRun } from '../limiter-load/load-run.ts';
import { openEmbeddedRun, openGatewayRun, openRedisRun } from '../limiter-load/open-run.ts';
import { progressLine } from '../limiter-load/progress-line.ts';
import { exitCodeOf, reportOf, reportText } from '../limiter-load/report.ts';
import { limitNumber } from './limits.ts';

const lineMs = 1_000;

/** Shows the live view, or prints a line each second. Returns the function that ends it. */
async function show(run: LoadRun, { maxErrors, live, stop }: { maxErrors: number; live: boolean; stop: () => void }) {
  if (live) {
    const { showLoad } = await import('../limiter-load/view.ts');
    return showLoad(run, { maxErrors, onQuit: stop });
  }
  const line = progressLine(run);
  const timer = setInterval(() => progress(line()), lineMs);
  return () => clearInterval(timer);
}

async function load(options: LoadOptions, command: Command): Promise<void> {
  checkUsage(options, command);
  warnOfPassword('--redis-url', options.redisUrl, 'a Redis without one');
  const { url = null, redisUrl, duration, rate = null, maxRequests, maxErrors, seed, json, plain } = options;
  const live = process.stdout.isTTY === true && !json && !plain;
  const stop = stopSignal();
  const quit = new AbortController();
  const pace = { durationMs: duration, rate, maxRequests, signal: AbortSignal.any([stop.signal, quit.signal]) };
  try {
    const opened = await (url
      ? openGatewayRun(options, pace, command)
      : redisUrl
        ? openRedisRun(options, pace, live)
        : openEmbeddedRun(options, pace));
    const { run } = opened;
    try {
      const hide = await show(run, { maxErrors, live, stop: () => quit.abort() });
      await run.done.finally(hide);
    } finally {
      await opened.close();
    }
    const limits = url ? givenLimits(options) : inProcessLimits(options);
    const report = await reportOf(run, { url, seed, limits, maxErrors });
    if (json) printJson(report);
    else print(reportText(report));
    process.exitCode = exitCodeOf(report);
  } finally {
    stop.release();
  }
}

const about = `
Examples:
  $ tradepost limiter load --users 100000 --duration 30s
  $ tradepost limiter load --redis-url redis://127.0.0.1:6379 --concurrency 200 --user-rpm 600
  $ printf %s "$KEY" | tradepost limiter load --url http://127.0.0.1:8081 --tokens - --rate 50
  $ tradepost limiter load --url http://127.0.0.1:8081 --tokens keys.txt --chat gpt-4o-mini --max-tokens 16 --json

In process, every verdict is compared with a log of the run, by the limiter's clock. No window of 60 s of any key may hold
more than its limit, and no request may be refused that had room. Over HTTP, the run counts requests that were sent and
answered within less than a window; more of them than the limit is an over-admission. The limits are those of the command
line, else those read with the login token of an administrator in TRADEPOST_ADMIN_TOKEN, else those that refusals name.
Requests that passed unchecked, because the store did not answer, explain an excess of the same size. With several gateways
behind one address, /metrics reports one of them only. Limits that change during a run are applied to the whole run.

--json prints one object: target, url, ended (duration, max_requests, stopped, log_full), seconds, seed, requests,
per_second, admitted, refused, refused_by (dimension: count), unchecked, errors, max_errors, error_kinds, latency_ms (mean,
p50, p99, max), limits, passed, and exactness: method (exact, bound, none), over_admissions, false_refusals (null:
unknown), unsure_refusals, explained_by_unchecked, verified and not_verified (dimensions), notes, proofs (what, key,
dimension, count, limit, at), evicted, unchecked_by_metrics.

Exit codes: 0 exact, 1 over-admission, false refusal, or more errors than --max-errors, 2 wrong usage.`;

export function addLoad(group: Command): void {
  const command = group
    .command('load')
    .description('load-test the limiter in process or a running gateway, and verify that its limits are exact')
    .option('--in-process', 'load the limiter itself, in this process (default without --url)')
    .option('--redis-url <url>', 'in process on this Redis or Valkey, with keys of its own that are removed afterwards')
    .option('--url <url>', 'load a running gateway, such as http://127.0.0.1:8081', gatewayUrl)
    .option('--remote', 'allow an address on another machine')
    .option('--tokens <file>', 'file with an API token on each line; - is standard input')
    .option('--chat <model>', 'POST real chat completions, which upstreams may bill (default: GET /v1/models)')
    .addOption(
      new Option('--max-tokens <n>', 'output tokens of a chat completion')
        .default(16)
        .argParser(wholeNumber(1, maxCost)),
    )
    .addOption(
      new Option('--timeout <time>', 'longest wait for one answer').default(30_000, '30s').argParser(durationMs),
    )
    .addOption(
      new Option('--duration <time>', 'length of the run, such as 30s or 5m')
        .default(10_000, '10s')
        .argParser(durationMs),
    )
    .option('--concurrency <n>', 'requests at the same time', wholeNumber(1, 10_000), 50)
    .option('--rate <n>', 'requests per second (default: as many as possible)', wholeNumber(1, 10_000_000))
    .option(
      '--max-requests <n>',
      'end the run after this number of requests',
      wholeNumber(1, 10_000_000_000),
      1_000_000_000,
    )
    .option('--max-errors <n>', 'a run with more errors fails', wholeNumber(0, 1_000_000_000), 0)
    .option('--users <n>', 'number of users in the mix', wholeNumber(1, 2_000_000), 1_000)
    .option('--tokens-per-user <n>', 'API tokens of each user', wholeNumber(0, 100), 2)
    .option('--ips <n>', 'number of networks in the mix', wholeNumber(0, 1_000_000), 250)
    .option('--models <n>', 'number of models in the mix', wholeNumber(0, 10_000), 4)
    .addOption(
      new Option('--distribution <name>', 'distribution of users and models')
        .choices(distributions)
        .default('zipf' as Distribution),
    )
    .addOption(
      new Option('--cost <tokens>', 'cost of a request, a number or a range')
        .default([100, 3_000], '100-3000')
        .argParser(costRange),
    );
  for (const dimension of dimensions) {
    const [of, unit] = dimension.split('_') as [string, string];
    const description = `${unit === 'rpm' ? 'requests' : 'tokens'} per minute of a ${of === 'ip' ? 'network' : of}; 0 is unlimited`;
    command.option(`--${of}-${unit} <n>`, description, limitNumber);
  }
  command
    .option('--store-deadline <ms>', 'deadline of Redis for one check', wholeNumber(1, 10_000), 50)
    .option('--memory-mb <n>', 'memory of the limiter without Redis, in MB', wholeNumber(1, 16_384), 256)
    .option('--seed <n>', 'seed of the mix: the same seed gives the same requests', wholeNumber(0, 2 ** 32), 1)
    .option('--json', 'print the report as JSON')
    .option('--plain', 'print a line each second instead of the live view')
    .addHelpText('after', about)
    .action(load);
  refuseSecretOption(command, '--token <secret>', 'use --tokens <file>, or --tokens - for standard input');
  refuseSecretOption(command, '--admin-token <token>', 'use TRADEPOST_ADMIN_TOKEN');
}
