import type { Scenario } from '@tradepost/testing/processes/scenario-cli';
import { type Attack, type Outcome, scenarioOf } from './attack.ts';
import { decoration, exports, reports } from './back-office.ts';
import { bodies } from './bodies.ts';
import { callbacks } from './callbacks.ts';
import { couponSends } from './coupon-sends.ts';
import { csv } from './csv.ts';
import { framing } from './framing.ts';
import { gatewayBodies } from './gateway-bodies.ts';
import { growth } from './growth.ts';
import { headers } from './headers.ts';
import { logins } from './logins.ts';
import { orders } from './orders.ts';
import { paging } from './paging.ts';
import { promotions } from './promotions.ts';
import { protocols } from './protocols.ts';
import { readers } from './readers.ts';
import { receivers } from './receivers.ts';
import { slow } from './slow.ts';
import { streams } from './streams.ts';
import { uploads } from './uploads.ts';
import { visits } from './visits.ts';

const all: readonly Attack[] = [
  ...[framing, protocols, headers, slow, readers, bodies, gatewayBodies, uploads, streams],
  ...[logins, growth, orders, promotions, paging, csv, callbacks],
  ...[reports, decoration, exports, visits, receivers, couponSends],
];

export const attacks: readonly Scenario<Outcome>[] = all.map(scenarioOf);
