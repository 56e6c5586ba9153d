import { randomUUID } from 'node:crypto';

/** The gateways that a request has come through, by an id that each process has chosen. */
export const gatewayHeader = 'x-tradepost-gateway';

const passedId = /^[\w-]{1,64}$/;
/** One behind the other; nobody builds more. */
const mostGateways = 16;

type LoopGuard = {
  /** What a request to an upstream says, after whom it has passed; null: it has been here before. */
  mark(passed: string | null): string | null;
};

/**
 * An upstream can be this gateway itself, at once or through others: without a mark one request would go round until its
 * time-outs end it, and be charged at every turn.
 */
export function openLoopGuard(id: string = randomUUID()): LoopGuard {
  return {
    mark(passed) {
      if (passed === null) return id;
      // What is no id of a gateway is somebody's own and goes nowhere.
      const ids = passed.split(',', mostGateways * 2).map((one) => one.trim());
      const before = ids.filter((one) => passedId.test(one));
      return before.includes(id) || before.length >= mostGateways ? null : [...before, id].join(', ');
    },
  };
}
