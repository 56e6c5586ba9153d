import type { Cron, Tasks } from '@tradepost/runtime';
import type { Resource } from './resource.ts';
import type { Route } from './route.ts';

/** What a package adds to the server. One that is switched off adds nothing. */
export type Module = {
  readonly name: string;
  readonly routes?: readonly Route[];
  readonly resources?: readonly Resource[];
  readonly tasks?: Tasks;
  readonly crons?: readonly Cron[];
};
