import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Unanswered requests of one connection. Node holds answers in memory while an earlier one is not finished. */
const maxWaiting = 16;

/**
 * Limits pipelined requests. A connection with more than 16 unanswered requests is closed. When a connection breaks,
 * Node closes only the response at the head of the queue. The others are closed here; otherwise they would stay in
 * memory for ever.
 */
export function openPipelines(): { admit(req: IncomingMessage, res: ServerResponse): boolean } {
  const waitingOf = new WeakMap<Socket, Set<ServerResponse>>();
  const open = (socket: Socket): Set<ServerResponse> => {
    const waiting = new Set<ServerResponse>();
    waitingOf.set(socket, waiting);
    socket.once('close', () => {
      // Runs after Node's own listener, which closes the response at the head.
      for (const res of [...waiting]) {
        res.destroy();
        res.emit('close');
      }
    });
    return waiting;
  };
  return {
    /** False when the request must not run, because its connection has ended. */
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
