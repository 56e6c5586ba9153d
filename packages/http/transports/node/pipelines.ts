import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Unanswered requests of one connection. Node keeps the answers of those that wait behind another one in memory. */
const maxWaiting = 16;

/**
 * Bounds pipelined requests. A connection whose client sends more than 16 before the first of them is answered ends. When
 * a connection breaks, Node tells only the answer at its head: the others are closed here, else they are kept for ever.
 */
export function openPipelines(): { admit(req: IncomingMessage, res: ServerResponse): boolean } {
  const waitingOf = new WeakMap<Socket, Set<ServerResponse>>();
  const open = (socket: Socket): Set<ServerResponse> => {
    const waiting = new Set<ServerResponse>();
    waitingOf.set(socket, waiting);
    socket.once('close', () => {
      // After Node's own listener, which closes the one at the head.
      for (const res of [...waiting]) {
        res.destroy();
        res.emit('close');
      }
    });
    return waiting;
  };
  return {
    /** False: the request must not run, its connection has ended. */
    admit({ socket }, res) {
      if (socket.destroyed) return false;
      const waiting = waitingOf.get(socket) ?? open(socket);
      if (waiting.size >= maxWaiting) {
        socket.destroy();
        return false;
      }
      waiting.add(res);
      res.once('close', () => waiting.delete(res));
      return true;
    },
  };
}
