import { join } from 'node:path';
import { fileResponse } from '@tradepost/http';
import type { Module } from '@tradepost/module';
import { startDemoCarrier, stopDemoCarrier } from './demo/demo-carrier.ts';
import { demoSeedCheck } from './doctor/check-development.ts';
import { fixturesFolder } from './version.ts';

/** Serves the pictures of the demo catalogue, and runs the simulated carrier of a demo shop. */
export const demoModule: Module = {
  name: 'demo',
  doctorChecks: [demoSeedCheck],
  seedDemo: { start: startDemoCarrier },
  open: ({ runtime }) => ({
    close: () => stopDemoCarrier(runtime),
    resources: [
      {
        path: '/uploads/demo/:file',
        summary: 'Pictures of the demo catalogue',
        contentType: 'image/svg+xml',
        handle: (request, { file = '' }) =>
          fileResponse(request, join(fixturesFolder, 'pictures'), file, { maxAge: 86_400, sandbox: true }),
      },
    ],
  }),
};
