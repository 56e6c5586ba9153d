import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Behaviour, type BehaviourOptions, changedBehaviour } from './behaviour/behaviour.ts';
import { plainPlan } from './behaviour/draw-plans.ts';
import { openRandom } from './behaviour/random.ts';
import { openSender } from './callbacks/callback-sender.ts';
import { type OpenCallback, openCallbacks } from './callbacks/callbacks.ts';
import { openCalls } from './calls/answer-calls.ts';
import { openInternalRoutes } from './calls/answer-internal.ts';
import { sendReply } from './calls/answers.ts';
import { openPerformer } from './calls/perform-actions.ts';
import { openCallVerifier } from './calls/verify-call.ts';
import { type Counters, newCounters } from './counters.ts';
import { type ActionRecord, type ActionRecords, openActionRecords } from './ledger/action-records.ts';
import { type JournalLine, noJournal, openJournal } from './ledger/journal.ts';
import { type DocumentRow, Ledger, type SkuRow } from './ledger/ledger.ts';
import { keyOf } from './protocol.ts';
import { openTimers } from './timers.ts';

export type SimulatorOptions = BehaviourOptions & {
  appKey: string;
  appSecret: string;
  /** Default: 127.0.0.1 and a free port. */
  host?: string;
  port?: number;
  /** The largest difference of a timestamp in seconds, in both directions. Default 300. */
  signatureTtl?: number;
  /** Quantity on hand of a new SKU. Default 1,000,000. */
  stock?: number;
  /** A file of JSON lines that keeps the ledger and the idempotency keys across a restart. */
  journal?: string;
  /** Allows `POST /_control` from this machine, which changes the behaviour. Default false. */
  control?: boolean;
  seed?: number;
};
export type LedgerView = {
  skus: SkuRow[];
  documents: DocumentRow[];
  counters: Counters;
  /** The number of deliveries per idempotency key, `<biz_type>:<biz_no>:<action>`. */
  seen: Record<string, number>;
  /** A `lost` callback is sent when the action is delivered again. */
  callbacks: OpenCallback[];
};
export type Simulator = {
  url: string;
  ledger(): LedgerView;
  counters(): Counters;
  seen(key: string): number;
  behaviour(): Behaviour;
  /** Changes the given options. Throws when the result is not valid. */
  change(options: BehaviourOptions): Behaviour;
  /** Sets the quantity on hand of a SKU, but not below its reserved quantity. */
  setStock(skuId: number, onHand: number): Promise<void>;
  /** Resolves when no callback is owed. Lost callbacks do not count. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

function valid(result: ReturnType<typeof changedBehaviour>): Behaviour {
  if ('faults' in result) throw new Error(result.faults.join('; '));
  return result.behaviour;
}

/** Applies one line of the journal to the ledger and the action records. */
function replay(line: JournalLine, ledger: Ledger, actions: ActionRecords): void {
  if (line.t === 'open') ledger.setInitialStock(line.stock);
  else if (line.t === 'stock') ledger.setOnHand(line.sku_id, line.on_hand);
  else if (line.t === 'callback') Object.assign(actions.get(line.key) ?? {}, { callback: line.callback });
  else {
    const record = actions.get(keyOf(line.intent)) ?? actions.add(line.intent);
    if (line.answer?.code === 0 && record.answer?.code !== 0) ledger.apply(line.intent);
    Object.assign(record, { answer: line.answer, callback: line.callback });
  }
}

/** Continues the callbacks of an earlier run. `owed` ones are sent; `lost` ones wait until the action is delivered again. */
function resume(actions: ActionRecords, callbacks: Callbacks, sendCallback: Callbacks['send'] | null): void {
  for (const record of actions.all()) {
    if (record.callback === 'lost') callbacks.markLost(record);
    if (record.callback === 'owed' && sendCallback) void sendCallback(record, plainPlan);
  }
}

/** Paths that begin with `/_` are internal to the simulator. All others are calls of the protocol. */
function answerWith(calls: ReturnType<typeof openCalls>, internal: ReturnType<typeof openInternalRoutes>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url!.split('?', 1)[0]!;
    // When the journal can not be written, for example, the code asks the shop to call again.
    (path.startsWith('/_') ? internal : calls)(request, response, path).catch((error: Error) => {
      if (!response.headersSent) sendReply(response, { code: 5000, message: error.message, request_id: '' });
    });
  };
}

/** Starts the server. Returns its URL. */
async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
}

type Callbacks = ReturnType<typeof openCallbacks>;

export async function openSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { appKey, appSecret, signatureTtl = 300, stock = 1_000_000, seed = 1, ...rest } = options;
  const { host = '127.0.0.1', port = 0, journal: journalPath, control = false, ...given } = rest;
  if (appKey === '' || appSecret === '') throw new Error('appKey and appSecret: must not be empty');
  let behaviour = valid(changedBehaviour(given));

  const counters = newCounters();
  const seen = new Map<string, number>();
  const ledger = new Ledger(stock);
  const actions = openActionRecords();
  const timers = openTimers();
  const sender = openSender({ appKey, appSecret });
  const verify = openCallVerifier({ appKey, appSecret, signatureTtl });
  // Two random sequences, so that the draws of callbacks do not shift the draws of calls.
  const [randomOfCalls, randomOfCallbacks] = [openRandom(seed), openRandom(seed ^ 0x5bd1e995)];

  const journal =
    journalPath === undefined ? noJournal : await openJournal(journalPath, (line) => replay(line, ledger, actions));
  ledger.setInitialStock(stock);

  const callbacks = openCallbacks({
    ...{ behaviour: () => behaviour, counters, timers, sender },
    carryOut: (record: ActionRecord) => performer.carryOut(record),
    onState: (record: ActionRecord) => journal.add({ t: 'callback', key: record.key, callback: record.callback }),
  });
  // Calls report a journal that can not be written. A callback has no caller to report it to.
  const sendCallback: typeof callbacks.send = (record, plan) => callbacks.send(record, plan).catch(() => {});
  const performer = openPerformer({
    ...{ ledger, actions, timers, journal, sendCallback },
    ...{ behaviour: () => behaviour, random: randomOfCallbacks },
  });

  const view = (): LedgerView => ({
    ...{ skus: ledger.skus(), documents: ledger.documents(), counters: structuredClone(counters) },
    ...{ seen: Object.fromEntries(seen), callbacks: callbacks.open() },
  });
  const change = (changes: BehaviourOptions): Behaviour => {
    behaviour = valid(changedBehaviour(changes, behaviour));
    return behaviour;
  };
  const setStock = (sku_id: number, on_hand: number): Promise<void> => {
    ledger.setOnHand(sku_id, on_hand);
    return journal.add({ t: 'stock', sku_id, on_hand });
  };

  const calls = openCalls({
    ...{ verify, performer, ledger, timers, counters, seen },
    ...{ behaviour: () => behaviour, random: randomOfCalls },
  });
  const internal = openInternalRoutes({ control, view, behaviour: () => behaviour, change, setStock });
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, answerWith(calls, internal));
  await journal.add({ t: 'open', stock });
  const url = await listen(server, port, host).catch(async (error: Error) => {
    await journal.close();
    throw error;
  });
  resume(actions, callbacks, behaviour.callbacks === 'async' ? sendCallback : null);
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    timers.close();
    callbacks.close();
    sender.close();
    server.close();
    server.closeAllConnections();
    return journal.close();
  };
  return {
    url,
    ...{ ledger: view, change, setStock, idle: callbacks.idle },
    counters: () => structuredClone(counters),
    seen: (key) => seen.get(key) ?? 0,
    behaviour: () => behaviour,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
