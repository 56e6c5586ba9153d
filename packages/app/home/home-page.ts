import type { Locale } from '@tradepost/core';
import { html } from '@tradepost/http';

const texts = {
  en: {
    runs: 'The shop runs.',
    api: 'This is an API.',
    reference: 'API reference',
    document: 'OpenAPI document',
    health: 'Parts',
    works: 'works',
    fails: 'does not work',
    parts: { database: 'Database', store: 'Store', worker: 'Worker', process: 'Process' },
  },
  'zh-CN': {
    runs: '商城正在运行。',
    api: '这是一个 API。',
    reference: 'API 参考',
    document: 'OpenAPI 文档',
    health: '组件',
    works: '正常',
    fails: '异常',
    parts: { database: '数据库', store: '存储', worker: '后台任务', process: '进程' },
  },
} as const;

/** The Content-Security-Policy of the page: inline styles, nothing else. */
export const homePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export type Home = {
  readonly locale: Locale;
  /** Shown outside production only, with the parts. */
  readonly shop: { readonly name: string; readonly version: string; readonly parts: readonly HomePart[] } | null;
  readonly hasReference: boolean;
};
type HomePart = { readonly name: string; readonly ok: boolean };

/** The page at `/`. Why a part fails is not on it: the admin listener answers that. */
export function homePage({ locale, shop, hasReference }: Home): string {
  const labels = texts[locale];
  const partNames: Readonly<Record<string, string>> = labels.parts;
  const title = shop ? shop.name : labels.api;
  const rows = shop?.parts.map(
    ({ name, ok }) =>
      html`<tr><td>${partNames[name] ?? name}</td><td class="${ok ? 'ok' : 'bad'}">${ok ? labels.works : labels.fails}</td></tr>\n`,
  );
  return html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 30rem; margin: 12vh auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.6rem; overflow-wrap: anywhere } h2 { font-size: 1rem } td { padding-right: 2rem } small { color: #666 }
.ok { color: #1a7f37 } .bad { color: #b3261e; font-weight: bold }
</style>
</head>
<body>
<h1>${title}</h1>
${shop ? html`<p>${labels.runs} <small>Tradepost ${shop.version}</small></p>` : ''}
${hasReference ? html`<p><a href="/docs">${labels.reference}</a> · <a href="/openapi.json">${labels.document}</a></p>` : ''}
${rows ? html`<h2>${labels.health}</h2>\n<table>\n${rows}</table>` : ''}
</body>
</html>
`.html;
}
