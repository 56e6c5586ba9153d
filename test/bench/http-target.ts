import { createRequire } from 'node:module';
import { createApp, defineRoute, envelope, serve } from '@tradepost/http';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { z } from 'zod';

/** What `http.ts` measures, one per process: `bare` uWebSockets.js, or one route of ours on transport `uws` or `node`. */
const [target] = process.argv.slice(2);

async function bare(port: number): Promise<void> {
  // The copy our HTTP package uses; this folder declares no dependency of its own.
  const load = createRequire(import.meta.resolve('@tradepost/http'));
  const { App } = load('uWebSockets.js') as typeof import('uWebSockets.js');
  const body = envelope(0, 'success', { ok: true });
  App()
    .get('/ok', (response) => {
      response.writeHeader('content-type', 'application/json; charset=utf-8').end(body);
    })
    .listen('127.0.0.1', port, (socket) => {
      if (!socket) throw new Error(`port ${port} is taken`);
    });
}

async function ours(): Promise<void> {
  const { config } = loadConfig();
  const runtime = await openRuntime({ config, definitions: [], log: openLog({ level: 'warn' }) });
  const ok = defineRoute({
    method: 'GET',
    path: '/ok',
    auth: 'public',
    tag: 'Bench',
    summary: 'Answers ok',
    response: z.object({ ok: z.boolean() }),
    handle: () => ({ ok: true }),
  });
  const app = createApp({ routes: [ok], resources: [], authenticate: () => null, runtime });
  await serve(app, config, runtime.log);
}

await (target === 'bare' ? bare(Number(process.env.PORT)) : ours());
process.once('SIGTERM', () => process.exit());
