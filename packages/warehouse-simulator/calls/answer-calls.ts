import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { drawCallPlan, type Fault } from '../behaviour/draw-plans.ts';
import type { Counters } from '../counters.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  type Answer,
  actionPaths,
  type CallName,
  codes,
  type Intent,
  isRetryable,
  keyOf,
  readIntent,
  readSellable,
  sellablePath,
} from '../protocol.ts';
import type { Timers } from '../timers.ts';
import { readBody, sendFault, sendJson, sendReply } from './answers.ts';
import type { Performer } from './perform-actions.ts';
import type { openCallVerifier } from './verify-call.ts';

type Deps = {
  verify: ReturnType<typeof openCallVerifier>;
  performer: Performer;
  ledger: Ledger;
  timers: Timers;
  counters: Counters;
  /** The number of deliveries per idempotency key. */
  seen: Map<string, number>;
  behaviour: () => Behaviour;
  random: () => number;
};

/** Answers the seven calls of the protocol, with the faults of the behaviour. */
export function openCalls({ verify, performer, ledger, timers, counters, seen, behaviour, random }: Deps) {
  const faults = new Map<string, number>();

  /** Counts the delivery, waits for its delay, and returns its fault. */
  const beginCall = async (call: CallName, key: string | null): Promise<Fault | null> => {
    counters.by_call[call] += 1;
    if (key !== null) {
      const times = (seen.get(key) ?? 0) + 1;
      seen.set(key, times);
      if (times > 1) counters.repeats += 1;
    }
    const { delayMs, fault } = drawCallPlan(random, behaviour(), call, key === null ? 0 : (faults.get(key) ?? 0));
    if (fault) {
      counters.faults[fault.kind] += 1;
      if (key !== null) faults.set(key, (faults.get(key) ?? 0) + 1);
    }
    await timers.pause(delayMs);
    return fault;
  };

  const refuse = (response: ServerResponse, { code, message }: Answer, request_id = '') => {
    counters.refusals[code] = (counters.refusals[code] ?? 0) + 1;
    sendReply(response, { code, message, request_id });
  };
  const malformed = (message: string): Answer => ({ code: codes.malformed, message });

  const answerAction = async (intent: Intent, response: ServerResponse): Promise<void> => {
    const { request_id } = intent;
    const fault = await beginCall(intent.action, keyOf(intent));
    // After a final failure code the action must not be done, now or in a later delivery.
    if (fault?.kind === 'fail' && !isRetryable(fault.code)) {
      const answer = await performer.perform(intent, { code: fault.code, message: 'simulated failure' });
      return sendReply(response, { ...answer, request_id });
    }
    if (fault && !fault.after) return sendFault(response, fault, request_id);
    const answer = await performer.perform(intent, null);
    if (fault) return sendFault(response, fault, request_id);
    if (answer.code !== codes.done) return refuse(response, answer, request_id);
    sendReply(response, { ...answer, request_id });
  };

  const answerSellable = async (body: string, response: ServerResponse): Promise<void> => {
    const query = readSellable(body);
    if (typeof query === 'string') return refuse(response, malformed(query));
    const { sku_ids, request_id = '' } = query;
    const fault = await beginCall('sellable', null);
    if (fault) return sendFault(response, fault, request_id);
    sendReply(response, { code: codes.done, message: 'done', request_id, data: ledger.sellable(sku_ids) });
  };

  return async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const action = Object.hasOwn(actionPaths, path) ? actionPaths[path as keyof typeof actionPaths] : null;
    if (!action && path !== sellablePath) return sendJson(response, 404, malformed('no such path'));
    if (request.method !== 'POST') return sendJson(response, 405, malformed('only POST'));
    const body = await readBody(request);
    counters.calls += 1;
    const key = request.headers['idempotency-key'] as string | undefined;
    if (body === null) {
      response.shouldKeepAlive = false;
      return refuse(response, malformed('body: too large'), key);
    }
    const fault = verify(request.headers, body);
    if (fault) return refuse(response, { code: codes.signature, message: fault }, key);
    if (!action) return answerSellable(body, response);
    const intent = readIntent(action, body, key);
    if (typeof intent === 'string') return refuse(response, malformed(intent), key);
    return answerAction(intent, response);
  };
}
