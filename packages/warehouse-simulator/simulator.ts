import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Behaviour, type BehaviourOptions, changedBehaviour } from './behaviour/behaviour.ts';
import { plainPlan } from './behaviour/fates.ts';
import { openRandom } from './behaviour/random.ts';
import { openSender } from './callbacks/callback-sender.ts';
import { type OpenCallback, openCallbacks } from './callbacks/callbacks.ts';
import { openCalls } from './calls/answer-calls.ts';
import { openOwn } from './calls/answer-own.ts';
import { sendReply } from './calls/answers.ts';
import { openGate } from './calls/gate.ts';
import { openTaking } from './calls/take-actions.ts';
import { type Counters, newCounters } from './counters.ts';
import { type Deed, type Deeds, openDeeds } from './ledger/deeds.ts';
import { type JournalLine, noJournal, openJournal } from './ledger/journal.ts';
import { type DocumentRow, Ledger, type SkuRow } from './ledger/ledger.ts';
import { keyOf } from './protocol.ts';
import { openTimers } from './timers.ts';

export type SimulatorOptions = BehaviourOptions & {
  appKey: string;
  appSecret: string;
  /** Default 127.0.0.1 and any free port. */
  host?: string;
  port?: number;
  /** Seconds by which a timestamp may differ, in either direction; default 300. */
  signatureTtl?: number;
  /** On hand of every SKU that nothing is known of; default 1,000,000. */
  stock?: number;
  /** File of JSON lines that keeps ledger and idempotency keys over a restart. */
  journal?: string;
  /** `POST /_control` from this machine changes the behaviour; default false. */
  control?: boolean;
  seed?: number;
};
export type LedgerView = {
  skus: SkuRow[];
  documents: DocumentRow[];
  counters: Counters;
  /** How often each idempotency key came, `<biz_type>:<biz_no>:<action>`. */
  seen: Record<string, number>;
  /** `lost` ones wait for the action to be delivered again. */
  callbacks: OpenCallback[];
};
export type Simulator = {
  url: string;
  ledger(): LedgerView;
  counters(): Counters;
  seen(key: string): number;
  behaviour(): Behaviour;
  /** Throws when it is not valid; what is not named stays. */
  change(options: BehaviourOptions): Behaviour;
  /** What is on hand of a SKU from now on, never below what is reserved. */
  setStock(skuId: number, onHand: number): Promise<void>;
  /** When no callback is owed any more; lost ones are not waited for. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

function valid(result: ReturnType<typeof changedBehaviour>): Behaviour {
  if ('faults' in result) throw new Error(result.faults.join('; '));
  return result.behaviour;
}

/** Brings one line of the journal back into the ledger and the deeds. */
function replay(line: JournalLine, ledger: Ledger, deeds: Deeds): void {
  if (line.t === 'open') ledger.setStockOfUnknown(line.stock);
  else if (line.t === 'stock') ledger.setOnHand(line.sku_id, line.on_hand);
  else if (line.t === 'told') Object.assign(deeds.get(line.key) ?? {}, { callback: line.callback });
  else {
    const deed = deeds.get(keyOf(line.intent)) ?? deeds.add(line.intent);
    if (line.answer?.code === 0 && deed.answer?.code !== 0) ledger.apply(line.intent);
    Object.assign(deed, { answer: line.answer, callback: line.callback });
  }
}

/** Takes up the callbacks of an earlier run: owed ones are sent, lost ones wait until the action is delivered again. */
function resume(deeds: Deeds, callbacks: Callbacks, tell: Callbacks['tell'] | null): void {
  for (const deed of deeds.all()) {
    if (deed.callback === 'lost') callbacks.markLost(deed);
    if (deed.callback === 'owed' && tell) void tell(deed, plainPlan);
  }
}

/** Paths below `/_` are the simulator's own, all others calls of the protocol. */
function answerWith(calls: ReturnType<typeof openCalls>, own: ReturnType<typeof openOwn>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url!.split('?', 1)[0]!;
    // A disk that fails under the journal, for example: the shop is to call again.
    (path.startsWith('/_') ? own : calls)(request, response, path).catch((error: Error) => {
      if (!response.headersSent) sendReply(response, { code: 5000, message: error.message, request_id: '' });
    });
  };
}

/** Answers the URL of the server. */
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
  const deeds = openDeeds();
  const timers = openTimers();
  const sender = openSender({ appKey, appSecret });
  const fits = openGate({ appKey, appSecret, signatureTtl });
  // Two streams: what callbacks draw does not shift what calls draw.
  const [randomOfCalls, randomOfCallbacks] = [openRandom(seed), openRandom(seed ^ 0x5bd1e995)];

  const journal =
    journalPath === undefined ? noJournal : await openJournal(journalPath, (line) => replay(line, ledger, deeds));
  ledger.setStockOfUnknown(stock);

  const callbacks = openCallbacks({
    ...{ behaviour: () => behaviour, counters, timers, sender },
    carryOut: (deed: Deed) => taking.carryOut(deed),
    onState: (deed: Deed) => journal.add({ t: 'told', key: deed.key, callback: deed.callback }),
  });
  // A disk that fails under the journal is told by calls; a callback has nobody to tell it to.
  const tell: typeof callbacks.tell = (deed, plan) => callbacks.tell(deed, plan).catch(() => {});
  const taking = openTaking({
    ...{ ledger, deeds, timers, journal, tell },
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
    ...{ fits, taking, ledger, timers, counters, seen },
    ...{ behaviour: () => behaviour, random: randomOfCalls },
  });
  const own = openOwn({ control, view, behaviour: () => behaviour, change, setStock });
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, answerWith(calls, own));
  await journal.add({ t: 'open', stock });
  const url = await listen(server, port, host).catch(async (error: Error) => {
    await journal.close();
    throw error;
  });
  resume(deeds, callbacks, behaviour.callbacks === 'async' ? tell : null);
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
