import { randomUUID } from 'node:crypto';
import type { CommandContext } from '@tradepost/module';
import { ConfigError, type Runtime } from '@tradepost/runtime';
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
  UsageError,
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
const maxStored = 100_000;
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a duration before now, such as `2h`, or a time. */
function moment(text: string): Date {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const at = count ? new Date(Date.now() - Number(count) * unitMs[unit as keyof typeof unitMs]) : new Date(text);
  if (Number.isNaN(at.getTime()) || (!count && !/^\d{4}-\d\d-\d\d/.test(text)))
    throw new InvalidArgumentError('Write 30m, 2h or 7d, or a time such as 2026-03-01T09:30:00Z.');
  return at;
}

function keysOf({ settings }: Runtime): Keys {
  return {
    appKey: settings.get(externalAppKey),
    appSecret: settings.get(externalAppSecret),
    ttl: settings.get(signatureTtl),
  };
}

/** The message as the partner would send it now. */
function signed(body: string, { appKey, appSecret }: Keys): Outer {
  const parts = { app_key: appKey, timestamp: String(Math.floor(Date.now() / 1000)), nonce: randomUUID(), body };
  return { ...parts, sign: externalSignature(parts, appSecret) };
}

/** The message of a callback. It is signed when it is sent. Without keys it is sent as it was recorded. */
function messageOf(recorded: Recorded, keys: Keys | null): Message {
  const { from } = recorded;
  const body = 'outer' in recorded ? recorded.outer.body : recorded.body;
  const about = { from, ...innerOf(body) };
  if (!keys) {
    if ('outer' in recorded) return { about, outer: () => recorded.outer };
    throw new UsageError(`${from}: has only the inner body and no signature: use --resign`);
  }
  if (typeof body !== 'string') throw new Error(`${from}: body is not a text and cannot be signed`);
  return { about, outer: () => signed(body, keys) };
}

/** The reasons for which the shop would refuse app key, signature or timestamp now. */
function faultsOf(outer: Outer, { appKey, appSecret, ttl }: Keys): string[] {
  const { app_key, timestamp, nonce, body, sign } = outer;
  const ageSeconds = Date.now() / 1000 - Number(timestamp);
  const faults: string[] = [];
  if (app_key !== appKey) faults.push('app_key: is not the configured key');
  const parts = { app_key: String(app_key), timestamp: String(timestamp), nonce: String(nonce), body: String(body) };
  if (!signatureFits(parts, appSecret, String(sign))) faults.push('sign: the signature is wrong');
  if (!(Math.abs(ageSeconds) <= ttl))
    faults.push(
      Number.isNaN(ageSeconds)
        ? 'timestamp: is not a Unix time'
        : `timestamp: ${Math.round(Math.abs(ageSeconds))} s ${ageSeconds > 0 ? 'old' : 'in the future'}, at most ${ttl} s are accepted`,
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
  return { http: response.status, code: null, message: 'the answer is not from a shop' };
}

/** Reads the callbacks from the files, or the stored ones that match the filter. The keys are read when something is signed or checked. */
async function gather(context: CommandContext, files: readonly string[], options: ReplayOptions) {
  const { since, requestId, callbackId, resign, dryRun, ...rest } = options;
  const recorded = (await Promise.all(files.map(readCallbacks))).flat();
  // Recorded callbacks are sent as they are. This needs no database.
  if (files.length > 0 && !resign && !dryRun)
    return { messages: recorded.map((one) => messageOf(one, null)), keys: null };
  return context.withRuntime(rest, async (runtime) => {
    const keys = keysOf(runtime);
    const missing = [...(keys.appKey ? [] : [externalAppKey]), ...(keys.appSecret ? [] : [externalAppSecret])];
    if (missing.length > 0)
      throw new ConfigError(
        missing.map(({ key }) => `${key}: callbacks are signed and checked with it (tradepost settings set ${key})`),
      );
    if (files.length > 0) return { messages: recorded.map((one) => messageOf(one, resign ? keys : null)), keys };
    const filter = { since, request_id: requestId, callback_id: callbackId };
    const rows = await selectCallbacks(runtime.sql, filter, maxStored + 1);
    if (rows.length > maxStored)
      throw new Error(`more than ${maxStored.toLocaleString('en')} callbacks match: use a later --since`);
    const stored = rows.map(({ received_at, body }): Recorded => ({ from: received_at.toISOString(), body }));
    return { messages: stored.map((one) => messageOf(one, keys)), keys };
  });
}

function dryRun(messages: readonly Message[], keys: Keys, json: boolean | undefined): void {
  const checked = messages.map(({ about, outer }) => {
    const sent = outer();
    return { ...about, faults: faultsOf(sent, keys), sent };
  });
  if (checked.some((one) => one.faults.length > 0)) process.exitCode = exitCodes.failed;
  if (json) {
    printJson({ dry_run: true, callbacks: checked });
    return;
  }
  for (const { from, faults, sent } of checked) {
    print(`${faults.length === 0 ? green('valid') : red(faults.join('; '))}  ${from}`);
    print(`  ${JSON.stringify(sent)}`);
  }
  print(`\n${checked.length} ${checked.length === 1 ? 'callback' : 'callbacks'}, nothing was sent`);
}

const hints: readonly [number, RegExp, string][] = [
  [400, /^timestamp/, '--resign signs them with a new timestamp'],
  [400, /^(sign|app_key)/, '--resign signs them with the configured secret'],
  [409, /^nonce/, '--resign gives them a new nonce'],
  [403, /./, 'check external_wms.callback_enabled, external_wms.app_key and external_wms.app_secret'],
  [500, /^request_id/, 'the shop has no such task: tradepost wms tasks list'],
];

const replay =
  (context: CommandContext) =>
  async (files: string[], options: ReplayOptions, command: Command): Promise<void> => {
    const { json, url: given, since, requestId, callbackId } = options;
    const isStored = since !== undefined || requestId !== undefined || callbackId !== undefined;
    if (isStored === files.length > 0)
      command.error('error: use either files, or --since, --request-id or --callback-id for stored callbacks');
    const { messages, keys } = await gather(context, files, options);
    if (options.dryRun) return dryRun(messages, keys!, json);
    const { config } = configOf({ config: options.config, data: options.data });
    const url = await serverUrl(given, config);
    if (messages.length === 0)
      return json ? printJson({ url, sent: 0, refused: 0, callbacks: [] }) : print('no callbacks');
    const results: (About & Answer)[] = [];
    // Callbacks are sent one after the other, because their order matters for a task.
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
          return [request_id, callback_id, status, code === 0 ? green('accepted') : `${red('refused')}: ${answer}`];
        }),
      ]),
    );
    print(`\n${results.length - refused.length} accepted, ${refused.length} refused by ${url}`);
    const fitting = hints.filter(([code, text]) => refused.some((one) => one.code === code && text.test(one.message)));
    for (const [, , hint] of fitting) progress(hint);
  };

export function addReplay(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('replay')
      .argument(
        '[file...]',
        'recorded callbacks: a message as the partner sent it, its inner body, or an array of these',
      )
      .description('send recorded or stored callbacks of the external warehouse to a running server again')
      .option(
        '--since <time>',
        'stored callbacks that first arrived since then: 30m, 2h, 7d, or 2026-03-01T09:30:00Z',
        moment,
      )
      .option('--request-id <id>', 'stored callbacks about the task with this request id')
      .option('--callback-id <id>', 'the stored callback with this id')
      .option(
        '--resign',
        'sign recorded callbacks with the configured secret, a new timestamp and nonce; stored ones are always signed anew',
      )
      .option('--dry-run', 'print the messages and whether signature and timestamp are valid; send nothing')
      .option('--url <url>', 'address of the server (default: the server that runs on the data folder)')
      .option('--json', 'print the results as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms replay fixtures/callbacks/success.json --resign\n  $ tradepost wms replay --since 2h --dry-run\n' +
          '  $ tradepost wms replay --request-id order:1772358600000000001:reserve\n\n' +
          'A shop applies each callback_id once, and does not change a task that has ended.\n\n' +
          'Exit codes: 0 all were accepted, 1 one was refused (with --dry-run: would be refused) or the server does not\n' +
          'answer, 2 wrong usage.',
      ),
  ).action(replay(context));
}
