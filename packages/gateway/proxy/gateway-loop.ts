import { randomUUID } from 'node:crypto';

/** The header with the ids of the gateways that a request has passed. Each process chooses its id. */
export const gatewayHeader = 'x-tradepost-gateway';

const passedId = /^[\w-]{1,64}$/;
/** The largest number of gateways that a request may pass. A longer chain counts as a loop. */
const maxGateways = 16;

type LoopGuard = {
  /**
   * Returns the ids that a request carries with the id of this gateway added; null when the request has already passed
   * this gateway.
   */
  mark(passed: string | null): string | null;
};

/**
 * Detects loops. An upstream can lead back to this gateway, directly or through others. Without a mark such a request would
 * circulate until its time-outs end it, and be charged each time.
 */
export function openLoopGuard(id: string = randomUUID()): LoopGuard {
  return {
    mark(passed) {
      if (passed === null) return id;
      // Other values are not ids of gateways and are not forwarded.
      const ids = passed.split(',', maxGateways * 2).map((one) => one.trim());
      const before = ids.filter((one) => passedId.test(one));
      return before.includes(id) || before.length >= maxGateways ? null : [...before, id].join(', ');
    },
  };
}
