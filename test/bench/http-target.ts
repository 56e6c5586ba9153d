import { createApp, defineRoute, envelope, nothing, serve } from '@tradepost/http';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';

/** A target of `http.ts`: `bare` uWebSockets.js, which sends `BODY`, or one route of the HTTP package on the transport of `TRANSPORT`. */
const [target] = process.argv.slice(2);
const data = { ok: true };

type Response = { writeHeader(name: string, value: string): Response; end(body: string): void };
type Bare = {
  get(path: string, handler: (response: Response) => void): Bare;
  listen(host: string, port: number, done: (socket: unknown) => void): Bare;
};

async function bare(port: number): Promise<void> {
  // uWebSockets.js is a dependency of the HTTP package.
  const name = 'uWebSockets.js';
  const { App } = (await import(name)) as { App: () => Bare };
  const body = process.env.BODY ?? envelope(0, 'success', data);
  App()
    .get('/ok', (response) => response.writeHeader('content-type', 'application/json; charset=utf-8').end(body))
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
    response: nothing,
    handle: () => data as never,
  });
  const app = createApp({ routes: [ok], resources: [], authenticate: () => null, runtime });
  await serve(app, config, runtime.log);
}

await (target === 'bare' ? bare(Number(process.env.PORT)) : ours());
process.once('SIGTERM', () => process.exit());
