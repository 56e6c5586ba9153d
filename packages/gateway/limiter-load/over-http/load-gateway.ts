import { type Dimension, dimensionName, dimensions, type Limits } from '@tradepost/rate-limiter';
import { type Findings, noFindings } from '../findings.ts';
import type { LoadRun } from '../load-run.ts';
import { openPace, type PaceOptions, runWorkers } from '../pace.ts';
import { countError, openTally } from '../tally.ts';
import { type Answered, type Ask, parsed, prefixOf, readFacts, readUnchecked } from './ask-gateway.ts';
import { type Excess, type GatewayBook, openGatewayBook } from './gateway-book.ts';

export type GatewayLoad = PaceOptions & {
  readonly tokens: readonly string[];
  /** Null asks for the list of models. */
  readonly chat: { readonly model: string; readonly maxTokens: number } | null;
  readonly concurrency: number;
  readonly windowMs: number;
  /** Limits that were told; the others are read or learned. */
  readonly limits: Partial<Limits>;
  /** Login token of an administrator. */
  readonly adminToken: string | null;
};

const dimensionsByName = new Map<string, Dimension>(dimensions.map((each) => [dimensionName(each), each]));
const refusal = /^rate limit exceeded: (\w+ [RT]PM)/;

type ErrorBody = { error?: { message?: unknown; code?: unknown } };

/** The dimension that a refusal of the gateway names; undefined for those of others (an upstream's, a proxy's). */
function refusedBy({ status, body }: Answered): Dimension | undefined {
  if (status !== 429) return undefined;
  const message = (parsed(body) as ErrorBody | null)?.error?.message;
  return dimensionsByName.get(refusal.exec(String(message))?.[1] ?? '');
}

function errorName({ status, body }: Answered): string {
  const code = (parsed(body) as ErrorBody | null)?.error?.code;
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? `${status} ${code}` : `status ${status}`;
}

/** What more was admitted than may be, in the dimension where it is the most. */
function mostOver(excesses: readonly Excess[]): number {
  const sums = new Map<Dimension, number>();
  for (const { dimension, count, limit } of excesses) sums.set(dimension, (sums.get(dimension) ?? 0) + count - limit);
  return Math.max(0, ...sums.values());
}

/**
 * `unchecked` requests passed without being charged, so that many more than the limit are right in each dimension; what is
 * beyond is not.
 */
export function gatewayFindings(book: GatewayBook, unchecked: number, notes: readonly string[]): Findings {
  const excesses = book.excesses();
  const over = mostOver(excesses);
  const explained = over <= unchecked;
  const what = 'over_admission';
  return {
    ...noFindings,
    ...{ method: 'bound', over_admissions: explained ? 0 : over, explained_by_unchecked: explained ? over : 0 },
    ...{ verified: book.verified, not_verified: book.notVerified, notes },
    proofs: explained ? [] : excesses.slice(0, 10).map((excess) => ({ what, ...excess, at: null })),
  };
}

/** Loads a running gateway over HTTP. Of its limiter only what is certain from outside is said. */
export async function loadGateway(ask: Ask, load: GatewayLoad): Promise<LoadRun> {
  const { tokens, chat, limits: given, adminToken, windowMs, signal } = load;
  const model = chat?.model ?? null;
  const facts = adminToken === null ? null : await readFacts(ask, adminToken, tokens, model);
  const before = await readUnchecked(ask);
  const book = openGatewayBook({ tokenNames: tokens.map(prefixOf), model, given, facts, windowMs });
  const tally = openTally();
  const pace = openPace(load);
  const body =
    chat && JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: chat.maxTokens });
  // The input costs something as well; what is certain is the output that was asked for.
  const cost = chat?.maxTokens ?? 0;
  let turn = 0;

  const told = (token: number, answer: Answered, sent: number) => {
    const received = performance.now();
    tally.latency.record(received - sent);
    const dimension = refusedBy(answer);
    const limit = Number(answer.headers['x-ratelimit-limit']);
    if (dimension) {
      tally.refused += 1;
      tally.refusedBy[dimension] += 1;
      if (limit > 0) book.learned(token, dimension, limit);
    } else if (answer.status >= 200 && answer.status < 300) {
      tally.admitted += 1;
      // What was checked against any limit is told what is left of it.
      if (Number.isNaN(limit)) tally.unchecked += 1;
      book.admitted(token, sent, received, cost);
    } else countError(tally, errorName(answer));
  };

  const one = async () => {
    const token = turn % tokens.length;
    turn += 1;
    const options = { token: tokens[token]!, signal, ...(body ? { body } : {}) };
    const sent = performance.now();
    try {
      told(token, await ask(body ? 'POST' : 'GET', body ? '/v1/chat/completions' : '/v1/models', options), sent);
    } catch (error) {
      // What was under way when the run was stopped has no end.
      if (signal.aborted) return;
      const { code, message } = error as NodeJS.ErrnoException;
      countError(tally, code ?? message);
    }
  };

  const run = async (): Promise<Findings> => {
    await runWorkers(pace, load.concurrency, one);
    const after = await readUnchecked(ask);
    const byMetrics = before === null || after === null ? null : Math.max(0, after - before);
    const notes: string[] = [];
    if (byMetrics === null) notes.push('the gateway does not tell how many it let through unchecked (/metrics)');
    if (facts === null && tokens.length > 1)
      notes.push('limits of users are held against each token alone: whose they are takes TRADEPOST_ADMIN_TOKEN');
    if (facts?.tokens.includes(undefined)) notes.push('of some tokens the limits were not found');
    for (const { dimension, known, of } of book.partly)
      notes.push(
        `${dimensionName(dimension)} was verified for ${known} of ${of} keys, as their refusals told the limit`,
      );
    const found = gatewayFindings(book, Math.max(tally.unchecked, byMetrics ?? 0), notes);
    return { ...found, unchecked_by_metrics: byMetrics };
  };
  return {
    ...{ target: 'gateway', tally, pace },
    wrong() {
      const over = mostOver(book.excesses());
      return { overAdmissions: over <= tally.unchecked ? 0 : over, falseRefusals: 0 };
    },
    done: run(),
  };
}
