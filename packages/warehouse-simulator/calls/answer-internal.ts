import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { readBody, sendJson } from './answers.ts';

type Deps = {
  control: boolean;
  view: () => unknown;
  behaviour: () => Behaviour;
  change: (changes: object) => Behaviour;
  setStock: (skuId: number, onHand: number) => Promise<void>;
};

const isLoopback = (address = '') => /^(::ffff:)?127\.|^::1$/.test(address);
const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

/** `{ "17": 5 }` as pairs. */
function stockRows(stocks: unknown): (readonly [number, number])[] {
  const rows = Object.entries(Object(stocks)).map(([id, onHand]) => [Number(id), onHand] as const);
  if (!rows.every(([id, onHand]) => isCount(id) && id > 0 && isCount(onHand)))
    throw new Error('stocks: must be an object of SKU ids and whole numbers');
  return rows as (readonly [number, number])[];
}

/** The paths of the simulator that a real warehouse does not have. */
export function openInternalRoutes({ control, view, behaviour, change, setStock }: Deps) {
  const changeByRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A browser sends this content type to another origin only after a preflight request, and the simulator answers none.
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
      return sendJson(response, 415, { error: 'send application/json' });
    try {
      const { stocks = {}, ...changes } = JSON.parse((await readBody(request)) ?? '') as Record<string, unknown>;
      const rows = stockRows(stocks);
      change(changes);
      for (const [id, onHand] of rows) await setStock(id, onHand);
      sendJson(response, 200, behaviour());
    } catch (error) {
      sendJson(response, 400, { error: (error as Error).message });
    }
  };

  return async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    if (path === '/_ledger') return sendJson(response, 200, view());
    if (path !== '/_control' || !control) return sendJson(response, 404, { error: 'no such path' });
    if (!isLoopback(request.socket.remoteAddress)) return sendJson(response, 403, { error: 'from this machine only' });
    if (request.method === 'POST') return changeByRequest(request, response);
    sendJson(response, 200, behaviour());
  };
}
