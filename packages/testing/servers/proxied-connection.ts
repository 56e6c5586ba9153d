import type { Socket } from 'node:net';
import { messageTypes, openMessageReader, openStatementReader } from './protocol-messages.ts';
import { type Gates, oneLine } from './statement-gates.ts';

type MatchedGate = NonNullable<ReturnType<Gates['match']>>;

/** The application_name of the pool that serves requests and jobs. */
const watchedPool = /application_name\0tradepost\0/;

/** Relays the messages of one client connection to PostgreSQL and back, and applies the gates to its statements. */
export function proxyConnection(client: Socket, upstream: Socket, gates: Gates): void {
  const readStatement = openStatementReader();
  let isWatched = false;
  /** The held message and the messages after it; null while no statement is held. */
  let waiting: Buffer[] | null = null;
  /** Queries and syncs that PostgreSQL has not yet answered. */
  let unanswered = 0;
  /** The gate that breaks the connection after its statement was executed. */
  let cutAfter: { gate: MatchedGate; text: string } | null = null;
  let dropsAnswers = false;

  const cut = () => {
    client.destroy();
    upstream.destroy();
  };
  const send = (type: number, message: Buffer) => {
    const asksForAnswer = type === messageTypes.query || type === messageTypes.sync;
    if (asksForAnswer) unanswered += 1;
    upstream.write(message);
    // The statement and its sync were sent: the client must not get the answer.
    if (cutAfter && asksForAnswer) dropsAnswers = true;
  };
  const hold = (message: Buffer) => {
    const messages = [message];
    waiting = messages;
    gates.hold(() => {
      waiting = null;
      // No gate applies to the held statement a second time.
      const [first, ...later] = messages;
      send(first![0]!, first!);
      for (const next of later) receive(next[0]!, next);
    });
  };
  const applyGate = (gate: MatchedGate, text: string, type: number, message: Buffer) => {
    if (gate.action === 'cut before') {
      cut();
      gate.reach(text);
    } else if (gate.action === 'cut after') {
      cutAfter = { gate, text };
      send(type, message);
    } else {
      hold(message);
      gate.reach(text);
    }
  };
  const receive = (type: number, message: Buffer): void => {
    if (waiting) {
      waiting.push(message);
      return;
    }
    if (dropsAnswers) return;
    if (type === messageTypes.startup) isWatched = watchedPool.test(message.toString('latin1'));
    const statement = readStatement(type, message);
    const gate = isWatched && statement !== undefined ? gates.match(statement) : null;
    if (gate) applyGate(gate, oneLine(statement ?? ''), type, message);
    else send(type, message);
  };
  const answer = (type: number, message: Buffer) => {
    if (type === messageTypes.readyForQuery) unanswered -= 1;
    if (!dropsAnswers) client.write(message);
    else if (type === messageTypes.readyForQuery && unanswered <= 0) {
      cut();
      cutAfter?.gate.reach(cutAfter.text);
    }
  };
  client.on('data', openMessageReader(receive, { hasStartup: true }));
  upstream.on('data', openMessageReader(answer, { hasStartup: false }));
}
