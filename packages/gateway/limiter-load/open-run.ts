import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { openEmbeddedLimiter, openRedisLimiter, windowMs } from '@tradepost/rate-limiter';
import { openLog } from '@tradepost/runtime';
import { progress } from '@tradepost/terminal';
import type { Command } from 'commander';
import { loadLimiter } from './in-process/load-limiter.ts';
import { givenLimits, inProcessLimits, type LoadOptions } from './load-options.ts';
import type { LoadRun } from './load-run.ts';
import { openGatewayClient } from './over-http/gateway-client.ts';
import { loadGateway } from './over-http/load-gateway.ts';
import type { PaceOptions } from './pace.ts';

/** A run that has begun. `close` releases what it used and removes its keys. */
export type OpenRun = { readonly run: LoadRun; close(): Promise<void> };

export async function openEmbeddedRun(options: LoadOptions, pace: PaceOptions): Promise<OpenRun> {
  const limiter = openEmbeddedLimiter({ memoryMb: options.memoryMb });
  const run = loadLimiter(limiter, {
    ...{ ...pace, mix: options, limits: inProcessLimits(options), concurrency: options.concurrency, windowMs },
    cacheHits: null,
    evicted: () => limiter.evicted,
  });
  return { run, close: () => limiter.close() };
}

/** `isLive`: the live view owns the terminal, so nothing is logged. */
export async function openRedisRun(options: LoadOptions, pace: PaceOptions, isLive: boolean): Promise<OpenRun> {
  const { redisUrl = '', concurrency, storeDeadline } = options;
  const prefix = `tradepost:limit-load:${randomBytes(6).toString('hex')}:`;
  let hits = 0;
  const limiter = openRedisLimiter({
    ...{ urls: [redisUrl], prefix, deadlineMs: () => storeDeadline },
    log: openLog({ level: isLive ? 'silent' : 'error' }),
    onCacheHit: () => {
      hits += 1;
    },
  });
  await limiter.ready();
  try {
    await limiter.inspect({ kind: 'model', key: 'none' });
  } catch (error) {
    await limiter.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Redis does not answer at ${new URL(redisUrl).host}: ${reason}`);
  }
  const run = loadLimiter(limiter, {
    ...{ ...pace, mix: options, limits: inProcessLimits(options), concurrency, windowMs },
    cacheHits: () => hits,
    evicted: () => 0,
  });
  return {
    run,
    async close() {
      await limiter.reset().catch(() => progress(`keys ${prefix}* are left behind: they expire within two minutes`));
      await limiter.close();
    },
  };
}

const secret = /^[\x21-\x7e]{1,500}$/;

/** Reads API tokens, one a line. Empty lines and comments (`#`) are skipped. */
async function readTokens({ tokens: file }: LoadOptions, command: Command): Promise<string[]> {
  if (file === undefined) command.error('error: --url needs API tokens: --tokens <file>, or - for standard input');
  const given = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  const all = given
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (all.length === 0) command.error(`error: there is no API token in ${file}`);
  if (!all.every((each) => secret.test(each))) command.error(`error: a line of ${file} is not a token`);
  return [...new Set(all)];
}

export async function openGatewayRun(options: LoadOptions, pace: PaceOptions, command: Command): Promise<OpenRun> {
  const { url = '', chat, maxTokens, concurrency, timeout } = options;
  const adminToken = process.env.TRADEPOST_ADMIN_TOKEN ?? null;
  const tokens = await readTokens(options, command);
  const client = openGatewayClient(url, { connections: concurrency, timeoutMs: timeout });
  try {
    await client.request('GET', '/health').catch((error: NodeJS.ErrnoException) => {
      throw new Error(`no gateway answers at ${url} (${error.code ?? error.message})`);
    });
    const run = await loadGateway(client, {
      ...{ ...pace, tokens, concurrency, windowMs, limits: givenLimits(options), adminToken },
      chat: chat === undefined ? null : { model: chat, maxTokens },
    });
    return { run, close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}
