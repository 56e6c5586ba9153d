import { commonRefusals } from '../routing/refusals.ts';
import type { Route } from '../routing/route.ts';

/** The codes of all refusals that these routes can answer, in order. */
export function refusalCodes(routes: readonly Route[]): number[] {
  const named = routes.flatMap(({ refuses = [] }) => refuses.map(({ refusal }) => refusal));
  return [...new Set([...commonRefusals, ...named].map(({ code }) => code))].sort((a, b) => a - b);
}
