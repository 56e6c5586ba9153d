import { join } from 'node:path';
import { fileResponse } from '@tradepost/http';
import type { Module } from '@tradepost/module';
import { demoSeedCheck } from './doctor/check-development.ts';
import { fixturesFolder } from './version.ts';

/** Serves the pictures of the demo catalogue. */
export const demoModule: Module = {
  name: 'demo',
  doctorChecks: [demoSeedCheck],
  open: () => ({
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
