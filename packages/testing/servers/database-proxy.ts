import { connect, createServer, type Socket } from 'node:net';

/** What happens to the connection at the statement that was waited for. */
type Act = 'pause' | 'cut before' | 'cut after';
/** A statement by its number since the gate was set (the first is 1), or the first whose text matches. */
type Boundary = number | RegExp;

type Gate = {
  /** Resolves with the statement's text when it is there: held back, or the connection is broken at it. */
  reached: Promise<string>;
  /** Lets a held statement pass, and takes a gate away that nobody came to. */
  go(): void;
  /** The statements seen so far, oldest first. */
  seen: readonly string[];
};

export type Wire = {
  /** The address of the database through this wire. */
  url: string;
  /** Holds the statement back, and all that follow it on its connection, until `go`. */
  pauseBefore(at: Boundary): Gate;
  /** Breaks the connection instead of sending the statement. */
  cutBefore(at: Boundary): Gate;
  /** Breaks the connection when the database has carried the statement out, before its answer comes back. */
  cutAfter(at: Boundary): Gate;
  /** From now on new connections go there: a server that was started again has another port. */
  target(url: string): void;
  close(): Promise<void>;
};

const readyForQuery = 0x5a;

/** Messages of the PostgreSQL protocol, whole ones, out of chunks. The first message of a client has no type byte. */
function openFrames(onFrame: (type: number, frame: Buffer) => void, startup: boolean) {
  let rest: Buffer = Buffer.alloc(0);
  let untyped = startup;
  return (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const header = untyped ? 0 : 1;
      if (rest.length < header + 4) return;
      const length = header + rest.readInt32BE(header);
      if (rest.length < length) return;
      const frame = rest.subarray(0, length);
      rest = rest.subarray(length);
      const type = untyped ? 0 : frame[0]!;
      untyped = false;
      onFrame(type, frame);
    }
  };
}

function cString(frame: Buffer, from: number): { text: string; next: number } {
  const end = frame.indexOf(0, from);
  return { text: frame.toString('utf8', from, end), next: end + 1 };
}

/** What nobody asked for: the driver's own question when a connection opens, and keys let go of after a fault. */
const besideTheWork = /pg_catalog\.pg_type|delete from runtime\.idempotency_keys|set instance = ''/;
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/**
 * A relay before PostgreSQL that knows its protocol: a test holds one statement of a running use case back, or breaks the
 * connection there, without a change of the code under test. Statements that travel in one write are told apart. Only the
 * pool that serves requests and jobs is looked at (its application_name is `tradepost`), not listeners and worker queues.
 */
export async function openWire(databaseUrl: string): Promise<Wire> {
  let server = new URL(databaseUrl);
  type Armed = Gate & {
    at: Boundary;
    act: Act;
    count: number;
    seen: string[];
    reach(text: string): void;
    open: boolean;
  };
  let armed: Armed | null = null;
  let held: (() => void)[] = [];
  const sockets = new Set<Socket>();

  function arm(at: Boundary, act: Act): Gate {
    let reach: (text: string) => void = () => {};
    const reached = new Promise<string>((resolve) => {
      reach = resolve;
    });
    const gate: Armed = {
      ...{ at, act, count: 0, seen: [], reach, reached, open: false },
      go() {
        gate.open = true;
        if (armed === gate) armed = null;
        for (const release of held.splice(0)) release();
      },
    };
    armed = gate;
    return gate;
  }

  /** What to do with this statement. */
  function look(text: string): Armed | null {
    if (!armed || besideTheWork.test(text)) return null;
    armed.count += 1;
    armed.seen.push(oneLine(text));
    const here = typeof armed.at === 'number' ? armed.count === armed.at : armed.at.test(oneLine(text));
    if (!here) return null;
    const gate = armed;
    armed = null;
    return gate;
  }

  const relay = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: server.hostname, port: Number(server.port || 5432), noDelay: true });
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    const cut = () => {
      for (const socket of both) socket.destroy();
    };
    const texts = new Map<string, string>();
    let watched = false;
    let waiting: Buffer[] | null = null;
    let outstanding = 0;
    let cutting: Armed | null = null;
    let cutText = '';
    let swallow = false;

    const send = (type: number, frame: Buffer) => {
      if (type === 0x51 || type === 0x53) outstanding += 1;
      upstream.write(frame);
      // The statement and its sync are on their way: what the database says from now on is lost.
      if (cutting && (type === 0x51 || type === 0x53)) swallow = true;
    };
    const take = (type: number, frame: Buffer): void => {
      if (waiting) {
        waiting.push(frame);
        return;
      }
      if (swallow) return;
      if (type === 0) watched = /application_name\0tradepost\0/.test(frame.toString('latin1'));
      if (type === 0x50) {
        const name = cString(frame, 5);
        texts.set(name.text, cString(frame, name.next).text);
      }
      let text: string | undefined;
      if (type === 0x51) text = cString(frame, 5).text;
      if (type === 0x42) text = texts.get(cString(frame, cString(frame, 5).next).text) ?? '';
      const gate = watched && text !== undefined ? look(text) : null;
      if (!gate) {
        send(type, frame);
        return;
      }
      const told = oneLine(text!);
      if (gate.act === 'cut before') {
        cut();
        gate.reach(told);
      } else if (gate.act === 'cut after') {
        cutting = gate;
        cutText = told;
        send(type, frame);
      } else {
        waiting = [frame];
        held.push(() => {
          const frames = waiting ?? [];
          waiting = null;
          // The held one first, without looking at it again.
          const [first, ...later] = frames;
          send(first![0]!, first!);
          for (const next of later) take(next[0]!, next);
        });
        gate.reach(told);
      }
    };
    client.on('data', openFrames(take, true));
    upstream.on(
      'data',
      openFrames((type, frame) => {
        if (type === readyForQuery) outstanding -= 1;
        if (!swallow) client.write(frame);
        else if (type === readyForQuery && outstanding <= 0) {
          cut();
          cutting?.reach(cutText);
        }
      }, false),
    );
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const address = relay.address() as { port: number };
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return {
    url: url.toString(),
    pauseBefore: (at) => arm(at, 'pause'),
    cutBefore: (at) => arm(at, 'cut before'),
    cutAfter: (at) => arm(at, 'cut after'),
    target(next) {
      server = new URL(next);
    },
    async close() {
      held = [];
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => relay.close(() => resolve()));
    },
  };
}
