import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '@tradepost/runtime';
import { FastResponse } from 'srvx';
import { fileResponse } from '../files/files.ts';
import type { Resource } from '../routing/resource.ts';
import type { Route } from '../routing/route.ts';
import { asyncApiDocument } from '../websocket/async-api.ts';
import type { Channel } from '../websocket/define-channel.ts';
import { openApiDocument } from './openapi.ts';

const swaggerFolder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const docsFiles = new Set(['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']);

const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tradepost API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>body { margin: 0 } .swagger-ui .topbar { display: none } .swagger-ui .info { margin: 24px 0 }</style>
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
// A separate file, so that the page needs no inline script.
const docsScript = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'list', filter: true,
  defaultModelsExpandDepth: 0, displayRequestDuration: true, persistAuthorization: true, validatorUrl: null,
});
`;
const docsPolicy =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

const json = (value: unknown, status = 200) =>
  new FastResponse(JSON.stringify(value), {
    status,
    headers: [
      ['content-type', 'application/json; charset=utf-8'],
      ['access-control-allow-origin', '*'],
    ],
  });
const text = (body: string, type: string) => new FastResponse(body, { headers: [['content-type', type]] });

/** The API reference page and its files. */
const docsResources: readonly Resource[] = [
  {
    path: '/docs',
    summary: 'API reference page',
    contentType: 'text/html',
    handle: () =>
      new FastResponse(docsPage, {
        headers: [
          ['content-type', 'text/html; charset=utf-8'],
          ['content-security-policy', docsPolicy],
        ],
      }),
  },
  {
    path: '/docs/:file',
    summary: 'Files of the API reference page',
    contentType: '*/*',
    handle: (request, { file = '' }) =>
      file === 'start.js'
        ? text(docsScript, 'text/javascript; charset=utf-8')
        : fileResponse(request, swaggerFolder, docsFiles.has(file) ? file : '', { maxAge: 86_400 }),
  },
];

/** Health, metrics, the document and its page: the same for every set of modules. */
export function systemResources(
  runtime: Pick<Runtime, 'check' | 'metrics' | 'log'>,
  routes: readonly Route[],
  version: string,
  channels: readonly Channel[] = [],
): Resource[] {
  const { log, metrics } = runtime;
  const resources: Resource[] = [
    {
      path: '/',
      summary: 'Redirect a browser to the API reference, or answer its path',
      contentType: 'application/json',
      handle: (request) =>
        request.headers.get('accept')?.includes('text/html')
          ? new FastResponse(null, { status: 302, headers: [['location', '/docs']] })
          : json({ name: 'tradepost', version, docs: '/docs', openapi: '/openapi.json' }),
    },
    {
      path: '/health',
      summary: 'Health: 200 while the process serves requests',
      contentType: 'application/json',
      handle: () => json({ status: 'ok', version }),
    },
    {
      path: '/ready',
      summary: 'Readiness: 200 while the database and the store answer, otherwise 503',
      contentType: 'application/json',
      async handle() {
        try {
          await runtime.check();
          return json({ status: 'ok' });
        } catch (error) {
          log.warn({ err: error }, 'not ready');
          return json({ status: 'unavailable' }, 503);
        }
      },
    },
    {
      path: '/ping',
      summary: 'Answer pong',
      contentType: 'application/json',
      handle: () => json({ pong: true }),
    },
    {
      path: '/metrics',
      summary: 'Prometheus metrics',
      contentType: 'text/plain',
      handle: async () => text(await metrics.registry.metrics(), metrics.registry.contentType),
    },
    {
      path: '/openapi.json',
      summary: 'This OpenAPI document',
      contentType: 'application/json',
      handle: () => text(document(), 'application/json; charset=utf-8'),
    },
    {
      path: '/asyncapi.json',
      summary: 'AsyncAPI document of the WebSocket channels',
      contentType: 'application/json',
      handle: () => text(channelDocument(), 'application/json; charset=utf-8'),
    },
    ...docsResources,
  ];
  let built: string | null = null;
  // Built at the first request, so that it does not slow the start.
  const document = () => {
    built ??= JSON.stringify(openApiDocument(routes, resources, version));
    return built;
  };
  let builtChannels: string | null = null;
  const channelDocument = () => {
    builtChannels ??= JSON.stringify(asyncApiDocument(channels, version));
    return builtChannels;
  };
  return resources;
}
