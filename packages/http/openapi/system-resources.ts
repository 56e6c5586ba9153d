import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Locale, negotiateLocale } from '@tradepost/core';
import { type Config, NotServingError, type Runtime } from '@tradepost/runtime';
import { FastResponse } from 'srvx';
import { fileResponse } from '../files/files.ts';
import type { Resource } from '../routing/resource.ts';
import type { Route } from '../routing/route.ts';
import { asyncApiDocument } from '../websocket/async-api.ts';
import type { Channel } from '../websocket/define-channel.ts';
import { openApiDocument, type Translate } from './openapi.ts';

const swaggerFolder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const docsFiles = new Set(['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']);

const docsPage = (locale: Locale) => `<!doctype html>
<html lang="${locale}">
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

/** The document is English unless `?lang=` asks for another language, because generators read it too. */
const localeOf = (request: Request): Locale =>
  negotiateLocale(new URL(request.url).searchParams.get('lang'), null, 'en');

/** The API reference page and its files. */
const docsResources: readonly Resource[] = [
  {
    path: '/docs',
    summary: 'API reference page',
    contentType: 'text/html',
    handle: (request) =>
      new FastResponse(docsPage(localeOf(request)), {
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
        ? fileResponse(request, import.meta.dirname, 'reference-page.js')
        : fileResponse(request, swaggerFolder, docsFiles.has(file) ? file : '', { maxAge: 86_400 }),
  },
];

export type SystemParts = {
  readonly channels?: readonly Channel[];
  /** Makes the page at `/` for browsers. Without it they get the JSON of other clients. */
  readonly homePage?: (request: Request) => Promise<Response>;
  /** Translates the texts of the document. */
  readonly translate?: Translate;
};

/**
 * Health, metrics, the document and its page: the same for every set of modules. The configuration can switch metrics and
 * documents off; the admin listener has the metrics always.
 */
export function systemResources(
  runtime: Pick<Runtime, 'check' | 'metrics' | 'log' | 'instance'> & {
    readonly config: Pick<Config, 'production' | 'publicMetrics' | 'publicDocs'>;
  },
  routes: readonly Route[],
  version: string,
  { channels = [], homePage, translate }: SystemParts = {},
): Resource[] {
  const { log, metrics, config, instance } = runtime;
  const about = {
    name: 'tradepost',
    ...(config.production ? {} : { version }),
    ...(config.publicDocs ? { docs: '/docs', openapi: '/openapi.json' } : {}),
  };
  const resources: Resource[] = [
    {
      path: '/',
      summary: 'Page that says what this is: for browsers as HTML, for others as JSON',
      contentType: 'application/json',
      handle: (request) =>
        homePage && request.headers.get('accept')?.includes('text/html') ? homePage(request) : json(about),
    },
    {
      path: '/health',
      summary: 'Health: 200 while the process serves requests',
      contentType: 'application/json',
      handle: () => json({ status: 'ok', version, instance }),
    },
    {
      path: '/ready',
      summary: 'Readiness: 200 while requests are served, otherwise 503',
      contentType: 'application/json',
      async handle() {
        try {
          await runtime.check();
          return json({ status: 'ok' });
        } catch (error) {
          // A proxy asks every few seconds. The stop has its own line in the log.
          if (!(error instanceof NotServingError && error.isPlanned)) log.warn({ err: error }, 'not ready');
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
  ];
  if (config.publicMetrics)
    resources.push({
      path: '/metrics',
      summary: 'Prometheus metrics; in production only with PUBLIC_METRICS=on',
      contentType: 'text/plain',
      handle: async () => text(await metrics.read(), metrics.registry.contentType),
    });
  if (config.publicDocs) resources.push(...documentResources(routes, resources, version, { channels, translate }));
  return resources;
}

/** The documents of the routes and channels, and the API reference page. */
function documentResources(
  routes: readonly Route[],
  others: readonly Resource[],
  version: string,
  { channels, translate }: { channels: readonly Channel[]; translate: Translate | undefined },
): Resource[] {
  const resources: Resource[] = [
    {
      path: '/openapi.json',
      summary: 'This OpenAPI document',
      contentType: 'application/json',
      handle: (request) => text(documentIn(localeOf(request)), 'application/json; charset=utf-8'),
    },
    {
      path: '/asyncapi.json',
      summary: 'AsyncAPI document of the WebSocket channels',
      contentType: 'application/json',
      handle: () => text(channelDocument(), 'application/json; charset=utf-8'),
    },
    ...docsResources,
  ];
  const all = [...others, ...resources];
  const built: Partial<Record<Locale, string>> = {};
  // Built at the first request, so that it does not slow the start.
  const documentIn = (locale: Locale) => {
    built[locale] ??= JSON.stringify(openApiDocument(routes, all, version, { locale, translate }));
    return built[locale];
  };
  let builtChannels: string | null = null;
  const channelDocument = () => {
    builtChannels ??= JSON.stringify(asyncApiDocument(channels, version));
    return builtChannels;
  };
  return resources;
}
