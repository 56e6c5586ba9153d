import { randomUUID } from 'node:crypto';
import type { CommandContext } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import {
  configOf,
  exitCodes,
  type GlobalOptions,
  green,
  print,
  printJson,
  progress,
  red,
  serverUrl,
  table,
  withDatabaseOptions,
  withProgress,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { parseJson } from '../protocol/answer.ts';
import { externalSignature, signatureFits } from '../protocol/signature.ts';
import { externalAppKey, externalAppSecret, signatureTtl } from '../settings.ts';
import { selectCallbacks } from '../tasks/task-report-store.ts';
import { innerOf, type Recorded, readCallbacks } from './callback-files.ts';

type ReplayOptions = GlobalOptions & {
  since?: Date;
  requestId?: string;
  callbackId?: string;
  resign?: boolean;
  dryRun?: boolean;
  url?: string;
};
type Outer = Readonly<Record<string, unknown>>;
type Keys = { appKey: string; appSecret: string; ttl: number };
type About = ReturnType<typeof innerOf> & { from: string };
type Message = { about: About; outer: () => Outer };

const path = '/admin/api/external-wms/callback';
const mostStored = 100_000;
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `2h` before now, or a moment. */
function moment(text: string): Date {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const at = count ? new Date(Date.now() - Number(count) * unitMs[unit as keyof typeof unitMs]) : new Date(text);
  if (Number.isNaN(at.getTime()) || (!count && !/^\d{4}-\d\d-\d\d/.test(text)))
    throw new InvalidArgumentError('It looks like 30m, 2h or 7d, or 2026-03-01T09:30:00Z.');
  return at;
}

function keysOf({ settings }: Runtime): Keys {
  return {
    appKey: settings.get(externalAppKey),
    appSecret: settings.get(externalAppSecret),
    ttl: settings.get(signatureTtl),
  };
}

/** As the partner would send it now. */
function signed(body: string, { appKey, appSecret }: Keys): Outer {
  const parts = { app_key: appKey, timestamp: String(Math.floor(Date.now() / 1000)), nonce: randomUUID(), body };
  return { ...parts, sign: externalSignature(parts, appSecret) };
}

/** What is to be sent; each signed when its turn comes. Without keys everything goes as it was recorded. */
function messageOf(recorded: Recorded, keys: Keys | null): Message {
  const { from } = recorded;
  const body = 'outer' in recorded ? recorded.outer.body : recorded.body;
  const about = { from, ...innerOf(body) };
  if (!keys) {
    if ('outer' in recorded) return { about, outer: () => recorded.outer };
    throw new Error(`${from}: has no signature, only the inner body: give --resign`);
  }
  if (typeof body !== 'string') throw new Error(`${from}: body is not a text, which can not be signed`);
  return { about, outer: () => signed(body, keys) };
}

/** Whether the shop would take signature and timestamp now. */
function faultsOf(outer: Outer, { appKey, appSecret, ttl }: Keys): string[] {
  const { app_key, timestamp, nonce, body, sign } = outer;
  const off = Date.now() / 1000 - Number(timestamp);
  const faults: string[] = [];
  if (app_key !== appKey) faults.push('app_key: is not the configured one');
  const parts = { app_key: String(app_key), timestamp: String(timestamp), nonce: String(nonce), body: String(body) };
  if (!signatureFits(parts, appSecret, String(sign))) faults.push('sign: does not fit');
  if (!(Math.abs(off) <= ttl))
    faults.push(
      Number.isNaN(off)
        ? 'timestamp: is no Unix time'
        : `timestamp: ${Math.round(Math.abs(off))} s ${off > 0 ? 'old' : 'ahead'}, at most ${ttl} s are taken`,
    );
  return faults;
}

const shopAnswer = z.object({ code: z.number(), message: z.unknown().optional().transform(String) });
type Answer = { http: number; code: number | null; message: string };

async function send(url: string, outer: Outer): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-language': 'en' },
    body: JSON.stringify(outer),
    signal: AbortSignal.timeout(30_000),
  }).catch((error: Error & { cause?: Error }) => {
    throw new Error(`${url} does not answer: ${error.cause?.message || error.message}`);
  });
  const answer = shopAnswer.safeParse(parseJson(await response.text())).data;
  if (answer) return { http: response.status, ...answer };
  return { http: response.status, code: null, message: 'the answer is not that of a shop' };
}

/** Stored ones by the filter, or those of the files; with the keys where they are needed. */
async function gather(context: CommandContext, files: readonly string[], options: ReplayOptions) {
  const { since, requestId, callbackId, resign, dryRun, ...rest } = options;
  const recorded = (await Promise.all(files.map(readCallbacks))).flat();
  // Files go as they are to any address, also where there is no database of a shop.
  if (files.length > 0 && !resign && !dryRun)
    return { messages: recorded.map((one) => messageOf(one, null)), keys: null };
  return context.withRuntime(rest, async (runtime) => {
    const keys = keysOf(runtime);
    if (keys.appKey === '' || keys.appSecret === '')
      throw new Error(
        `nothing can be signed or checked: ${externalAppKey.key} and ${externalAppSecret.key} have to be set (tradepost settings set)`,
      );
    if (files.length > 0) return { messages: recorded.map((one) => messageOf(one, resign ? keys : null)), keys };
    const filter = { since, request_id: requestId, callback_id: callbackId };
    const rows = await selectCallbacks(runtime.sql, filter, mostStored + 1);
    if (rows.length > mostStored)
      throw new Error(`these are more than ${mostStored.toLocaleString('en')} callbacks: give a later --since`);
    const stored = rows.map(({ received_at, body }): Recorded => ({ from: received_at.toISOString(), body }));
    return { messages: stored.map((one) => messageOf(one, keys)), keys };
  });
}

function dryRun(messages: readonly Message[], keys: Keys, json: boolean | undefined): void {
  const looked = messages.map(({ about, outer }) => {
    const sent = outer();
    return { ...about, faults: faultsOf(sent, keys), sent };
  });
  if (looked.some((one) => one.faults.length > 0)) process.exitCode = exitCodes.failed;
  if (json) {
    printJson({ dry_run: true, callbacks: looked });
    return;
  }
  for (const { from, faults, sent } of looked) {
    print(`${faults.length === 0 ? green('fits') : red(faults.join('; '))}  ${from}`);
    print(`  ${JSON.stringify(sent)}`);
  }
  print(`\n${looked.length} ${looked.length === 1 ? 'callback' : 'callbacks'}, none was sent`);
}

const hints: readonly [number, RegExp, string][] = [
  [400, /^timestamp/, '--resign signs them with a fresh timestamp'],
  [400, /^(sign|app_key)/, '--resign signs them with the configured secret'],
  [409, /^nonce/, '--resign gives them a fresh nonce'],
  [403, /./, 'see external_wms.callback_enabled, external_wms.app_key and external_wms.app_secret'],
  [500, /^request_id/, 'the shop has no such task: tradepost wms tasks list'],
];

const replay =
  (context: CommandContext) =>
  async (files: string[], options: ReplayOptions, command: Command): Promise<void> => {
    const { json, url: given, since, requestId, callbackId } = options;
    const isStored = since !== undefined || requestId !== undefined || callbackId !== undefined;
    if (isStored === files.length > 0)
      command.error('error: give either files, or --since, --request-id or --callback-id for stored callbacks');
    const { messages, keys } = await gather(context, files, options);
    if (options.dryRun) return dryRun(messages, keys!, json);
    const { config } = configOf({ config: options.config, data: options.data });
    const url = await serverUrl(given, config);
    if (messages.length === 0)
      return json ? printJson({ url, sent: 0, refused: 0, callbacks: [] }) : print('no callbacks');
    const results: (About & Answer)[] = [];
    // One after the other: what a later one says of a task must not come before an earlier one.
    await withProgress(
      () => `${results.length} of ${messages.length} sent`,
      async () => {
        for (const { about, outer } of messages) results.push({ ...about, ...(await send(url, outer())) });
      },
    );
    const refused = results.filter(({ code }) => code !== 0);
    if (refused.length > 0) process.exitCode = exitCodes.failed;
    if (json) return printJson({ url, sent: results.length, refused: refused.length, callbacks: results });
    print(
      table([
        ['REQUEST', 'CALLBACK', 'STATUS', 'RESULT'],
        ...results.map(({ request_id, callback_id, status, http, code, message }) => {
          const answer = code === null ? `HTTP ${http}, ${message}` : `code ${code}, ${message}`;
          return [request_id, callback_id, status, code === 0 ? green('taken') : `${red('refused')}: ${answer}`];
        }),
      ]),
    );
    print(`\n${results.length - refused.length} taken, ${refused.length} refused by ${url}`);
    const told = hints.filter(([code, text]) => refused.some((one) => one.code === code && text.test(one.message)));
    for (const [, , hint] of told) progress(hint);
  };

export function addReplay(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('replay')
      .argument('[file...]', 'recorded callbacks: one as the partner sent it, its inner body, or an array of these')
      .description('send callbacks of the external warehouse to a running server again, recorded or stored ones')
      .option('--since <time>', 'stored ones that came first since then: 30m, 2h, 7d, or 2026-03-01T09:30:00Z', moment)
      .option('--request-id <id>', 'stored ones about this task')
      .option('--callback-id <id>', 'the stored one of this id')
      .option('--resign', 'sign with the configured secret, fresh timestamp and nonce; stored ones always are')
      .option('--dry-run', 'print what would be sent, and whether signature and timestamp fit')
      .option('--url <url>', 'address of the server (default: the one running on the data folder)')
      .option('--json', 'print the results as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms replay fixtures/callbacks/success.json --resign\n  $ tradepost wms replay --since 2h --dry-run\n' +
          '  $ tradepost wms replay --request-id order:1772358600000000001:reserve\n\n' +
          'A shop takes each callback_id once, and moves no task that has ended.\n\n' +
          'Exit codes: 0 all were taken, 1 one was refused (with --dry-run: would be) or the server does not answer, 2 wrong usage.',
      ),
  ).action(replay(context));
}
