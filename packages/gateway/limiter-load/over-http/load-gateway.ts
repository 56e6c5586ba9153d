import { type Dimension, dimensionName, dimensions, type Limits } from '@tradepost/rate-limiter';
import { type Findings, noFindings } from '../findings.ts';
import type { LoadRun } from '../load-run.ts';
import { openPace, type PaceOptions, runWorkers } from '../pace.ts';
import { countError, openTally, type Tally } from '../tally.ts';
import { type Excess, GatewayAdmissions } from './gateway-admissions.ts';
import { type Answer, type GatewayClient, parseJson } from './gateway-client.ts';
import type { GatewayFacts } from './known-limits.ts';
import { prefixOf, readFacts, readUnchecked } from './read-facts.ts';

export type GatewayLoad = PaceOptions & {
  readonly tokens: readonly string[];
  /** null requests the list of models. */
  readonly chat: { readonly model: string; readonly maxTokens: number } | null;
  readonly concurrency: number;
  readonly windowMs: number;
  /** Limits from the command line. The others are read or learned. */
  readonly limits: Partial<Limits>;
  /** Login token of an administrator. */
  readonly adminToken: string | null;
};

const dimensionsByName = new Map<string, Dimension>(dimensions.map((each) => [dimensionName(each), each]));
const refusal = /^rate limit exceeded: (\w+ [RT]PM)/;

function errorOf(body: string): { readonly message?: unknown; readonly code?: unknown } {
  const parsed = parseJson(body);
  if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return {};
  return typeof parsed.error === 'object' && parsed.error !== null ? parsed.error : {};
}

/** The dimension that a refusal of the gateway names; undefined for a refusal of an upstream or a reverse proxy. */
function refusedBy({ status, body }: Answer): Dimension | undefined {
  if (status !== 429) return undefined;
  const [, name = ''] = refusal.exec(String(errorOf(body).message)) ?? [];
  return dimensionsByName.get(name);
}

function errorName({ status, body }: Answer): string {
  const { code } = errorOf(body);
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? `${status} ${code}` : `status ${status}`;
}

/** Requests or tokens beyond the limit, in the dimension with the largest excess. */
function largestExcess(excesses: readonly Excess[]): number {
  const sums = new Map<Dimension, number>();
  for (const { dimension, count, limit } of excesses) sums.set(dimension, (sums.get(dimension) ?? 0) + count - limit);
  return Math.max(0, ...sums.values());
}

/** `unchecked` requests passed without a charge. They explain an excess of the same size in each dimension. */
export function gatewayFindings(admissions: GatewayAdmissions, unchecked: number, notes: readonly string[]): Findings {
  const excesses = admissions.excesses();
  const over = largestExcess(excesses);
  const explained = over <= unchecked;
  const what = 'over_admission';
  return {
    ...noFindings,
    ...{ method: 'bound', over_admissions: explained ? 0 : over, explained_by_unchecked: explained ? over : 0 },
    ...{ verified: admissions.verified, not_verified: admissions.notVerified, notes },
    proofs: explained ? [] : excesses.slice(0, 10).map((excess) => ({ what, ...excess, at: null })),
  };
}

/** Counts one answer in the tally and in the admissions. */
function countAnswer(
  { tally, admissions, cost }: { tally: Tally; admissions: GatewayAdmissions; cost: number },
  token: number,
  answer: Answer,
  sent: number,
): void {
  const received = performance.now();
  tally.latency.record(received - sent);
  const dimension = refusedBy(answer);
  const limit = Number(answer.headers['x-ratelimit-limit']);
  if (dimension) {
    tally.refused += 1;
    tally.refusedBy[dimension] += 1;
    if (limit > 0) admissions.limitNamed(token, dimension, limit);
  } else if (answer.status >= 200 && answer.status < 300) {
    tally.admitted += 1;
    // An answer that was checked against a limit carries the header.
    if (Number.isNaN(limit)) tally.unchecked += 1;
    admissions.admitted(token, sent, received, cost);
  } else countError(tally, errorName(answer));
}

/** What the findings do not cover, for the report. `uncheckedByMetrics`: null when the gateway does not say. */
function notesOf(
  facts: GatewayFacts | null,
  admissions: GatewayAdmissions,
  tokenCount: number,
  uncheckedByMetrics: number | null,
): string[] {
  const notes: string[] = [];
  if (uncheckedByMetrics === null)
    notes.push('the gateway does not report how many it let through unchecked (/metrics)');
  if (facts === null && tokenCount > 1)
    notes.push('limits of users are compared with each token alone: the users of tokens need TRADEPOST_ADMIN_TOKEN');
  if (facts?.tokens.includes(undefined)) notes.push('the limits of some tokens were not found');
  for (const { dimension, known, of } of admissions.partlyVerified)
    notes.push(`${dimensionName(dimension)} was verified for ${known} of ${of} keys, whose refusals named the limit`);
  return notes;
}

/** Loads a running gateway over HTTP. Findings about its limiter are those that are certain from outside. */
export async function loadGateway(client: GatewayClient, load: GatewayLoad): Promise<LoadRun> {
  const { tokens, chat, limits: given, adminToken, windowMs, signal } = load;
  const model = chat?.model ?? null;
  const facts = adminToken === null ? null : await readFacts(client, adminToken, tokens, model);
  const uncheckedBefore = await readUnchecked(client);
  const admissions = new GatewayAdmissions({ tokenNames: tokens.map(prefixOf), model, given, facts, windowMs });
  const tally = openTally();
  const pace = openPace(load);
  const body =
    chat && JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: chat.maxTokens });
  // The input is charged as well, but only the requested output is known for certain.
  const counts = { tally, admissions, cost: chat?.maxTokens ?? 0 };
  const method = body ? 'POST' : 'GET';
  const path = body ? '/v1/chat/completions' : '/v1/models';
  let next = 0;

  const sendOne = async () => {
    const token = next % tokens.length;
    next += 1;
    const options = { token: tokens[token]!, signal, ...(body ? { body } : {}) };
    const sent = performance.now();
    try {
      countAnswer(counts, token, await client.request(method, path, options), sent);
    } catch (error) {
      // A request that was running when the run stopped has no outcome.
      if (signal.aborted) return;
      const { code, message } = error as NodeJS.ErrnoException;
      countError(tally, code ?? message);
    }
  };

  const run = async (): Promise<Findings> => {
    await runWorkers(pace, load.concurrency, sendOne);
    const uncheckedAfter = await readUnchecked(client);
    const byMetrics =
      uncheckedBefore === null || uncheckedAfter === null ? null : Math.max(0, uncheckedAfter - uncheckedBefore);
    const notes = notesOf(facts, admissions, tokens.length, byMetrics);
    const findings = gatewayFindings(admissions, Math.max(tally.unchecked, byMetrics ?? 0), notes);
    return { ...findings, unchecked_by_metrics: byMetrics };
  };
  return {
    ...{ target: 'gateway', tally, pace },
    wrong() {
      const over = largestExcess(admissions.excesses());
      return { overAdmissions: over <= tally.unchecked ? 0 : over, falseRefusals: 0 };
    },
    done: run(),
  };
}
