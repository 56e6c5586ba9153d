import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { LibraryHandle } from 'koffi';
import { atQuietTurn } from './at-quiet-turn.ts';

/** Handshakes that began before the filter end within it: it is longer than a round trip to the proxy. */
const HANDSHAKE_MS = 250;
/** The longest time for connections from before the filter to be accepted, on a busy machine. Those that still wait then are reset. */
const LONGEST_WAIT_MS = 5_000;

/** Of Linux on x64 and arm64. */
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SO_ACCEPTCONN = 30;
const POLLIN = 1;

/**
 * A socket filter of four instructions (linux/filter.h). It begins at the header of TCP: a packet with SYN is dropped, all others pass.
 * Sockets that are accepted inherit it; they receive no SYN.
 */
const dropSyn = [
  { code: 0x30, jt: 0, jf: 0, k: 13 }, // load the byte with the flags
  { code: 0x45, jt: 0, jf: 1, k: 0x02 }, // SYN?
  { code: 0x06, jt: 0, jf: 0, k: 0 }, // drop
  { code: 0x06, jt: 0, jf: 0, k: 0xffffffff }, // pass
];

type Option = (fd: number, level: number, name: number, value: Buffer, length: number[]) => number;

/** The listening sockets of this process on a port. */
function listenersOn(libc: LibraryHandle, port: number): number[] {
  const option = libc.func('int getsockopt(int, int, int, void *, _Inout_ uint32_t *)') as unknown as Option;
  const name = libc.func('int getsockname(int, void *, _Inout_ uint32_t *)');
  const isListener = (fd: number): boolean => {
    const value = Buffer.alloc(4);
    if (option(fd, SOL_SOCKET, SO_ACCEPTCONN, value, [4]) !== 0 || value.readInt32LE() === 0) return false;
    // sockaddr_in and sockaddr_in6 both have the port in network order behind the family.
    const address = Buffer.alloc(28);
    return name(fd, address, [28]) === 0 && address.readUInt16BE(2) === port;
  };
  return readdirSync('/proc/self/fd').map(Number).filter(isListener);
}

/** Whether one of these listening sockets has a connection that was not accepted. */
function waitingOn(libc: LibraryHandle, listeners: readonly number[]): () => boolean {
  const poll = libc.func('int poll(void *, unsigned long, int)');
  return () => {
    const fds = Buffer.alloc(8 * listeners.length);
    listeners.forEach((fd, at) => {
      fds.writeInt32LE(fd, 8 * at);
      fds.writeInt16LE(POLLIN, 8 * at + 4);
    });
    return poll(fds, listeners.length, 0) > 0;
  };
}

/**
 * From now on the kernel answers no new connection on a port of this process; handshakes that have begun end. Their clients repeat the
 * packet after a second. Returns a function that says whether a connection waits to be accepted, or null where this cannot be done.
 */
async function ignoreNewConnections(port: number): Promise<(() => boolean) | null> {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return null;
  try {
    const { default: koffi } = await import('koffi');
    const instruction = koffi.struct({ code: 'uint16_t', jt: 'uint8_t', jf: 'uint8_t', k: 'uint32_t' });
    const program = koffi.struct({ len: 'uint16_t', filter: koffi.pointer(instruction) });
    const libc = koffi.load(null);
    const attach = libc.func('setsockopt', 'int', ['int', 'int', 'int', koffi.pointer(program), 'uint32_t']);
    const filter = { len: dropSyn.length, filter: dropSyn };
    const listeners = listenersOn(libc, port);
    const isIgnored = (fd: number) => attach(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, koffi.sizeof(program)) === 0;
    return listeners.length > 0 && listeners.every(isIgnored) ? waitingOn(libc, listeners) : null;
  } catch {
    return null;
  }
}

/**
 * Closes a listener without losing a connection. The kernel resets those that it has not handed over yet, and their clients, who have
 * sent requests, do not know that no process has read them.
 *
 * So new connections are ignored first, and the listener closes when those before have been accepted. A client that connects meanwhile
 * is refused a second later, before it has sent anything. Where the kernel cannot be asked for that, the listener closes when no
 * connection waits, which loses those that arrive at this moment.
 */
export async function closeListener(port: number, close: () => void): Promise<void> {
  const isWaiting = await ignoreNewConnections(port);
  if (!isWaiting) {
    await atQuietTurn(close);
    return;
  }
  await sleep(HANDSHAKE_MS);
  // A turn of the event loop accepts one connection or several.
  for (const end = performance.now() + LONGEST_WAIT_MS; isWaiting() && performance.now() < end; ) await nextTurn();
  close();
}
