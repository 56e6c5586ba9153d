import type { ServerResponse } from 'node:http';
import type { BodyBudget } from '../body-budget.ts';
import type { TransportOptions } from '../transport.ts';

/** The state of one listening server. */
export type NodeServer = Required<Pick<TransportOptions, 'fetch' | 'maxBodyBytes' | 'bodyTimeoutMs'>> & {
  budget: BodyBudget;
  bodyLimitOf: TransportOptions['bodyLimitOf'];
  streamLimitOf: TransportOptions['streamLimitOf'];
  faultResponse: TransportOptions['faultResponse'];
  /** Responses that are not finished. */
  active: Set<ServerResponse>;
  /** Handshakes that are not answered, and promises that the application passed to `waitUntil`. */
  background: number;
  closing: boolean;
  /** Called when `active` or `background` has become smaller. */
  onIdle: (() => void) | undefined;
};
