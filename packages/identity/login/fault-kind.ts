import { faultCode } from '@tradepost/runtime';

/** The code of a failed request (`ECONNREFUSED`), else the name of its error. Has no address and no secret. */
export function faultKind(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return faultCode(error.cause) || error.name;
}
