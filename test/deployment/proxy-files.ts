import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../architecture/tree.ts';

/** Where a proxy of a test listens and what it passes requests on to. */
export type ProxySite = {
  port: number;
  api: readonly [number, number];
  gateway?: number;
  /** Certificate and key. Without them the proxy serves plain HTTP. */
  tls?: { certificate: string; key: string };
};

/** Replaces every occurrence. Throws when nothing was replaced, so that the files and the tests stay in step. */
function replaced(text: string, changes: readonly (readonly [string, string])[]): string {
  let changed = text;
  for (const [from, to] of changes) {
    if (!changed.includes(from)) throw new Error(`the example has no ${JSON.stringify(from)}`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
}

/** `docs/proxy/nginx.conf` with the ports and the certificate of a test. Everything else is as documented. */
export async function nginxConf({ port, api, gateway = 1, tls }: ProxySite): Promise<string> {
  const text = await readFile(join(root, 'docs/proxy/nginx.conf'), 'utf8');
  return replaced(text, [
    // Only the servers behind it are tested, and only on IPv4.
    [`  listen 80;\n`, `  listen 127.0.0.1:${tls ? port : port + 1};\n`],
    ['  listen [::]:80;\n', ''],
    ['  listen [::]:443 ssl;\n', ''],
    ['  listen 443 ssl;\n', `  listen 127.0.0.1:${tls ? `${port + 1} ssl` : port};\n`],
    ['127.0.0.1:8080', `127.0.0.1:${api[0]}`],
    ['127.0.0.1:8090', `127.0.0.1:${api[1]}`],
    ['127.0.0.1:8081', `127.0.0.1:${gateway}`],
    ...(tls
      ? ([
          ['/etc/ssl/shop/fullchain.pem', tls.certificate],
          ['/etc/ssl/shop/privkey.pem', tls.key],
        ] as const)
      : ([
          ['  ssl_certificate     /etc/ssl/shop/fullchain.pem;\n', ''],
          ['  ssl_certificate_key /etc/ssl/shop/privkey.pem;\n', ''],
          ['  ssl_protocols TLSv1.2 TLSv1.3;\n', ''],
        ] as const)),
  ]);
}

/** `docs/proxy/Caddyfile` with the ports and the certificate of a test. */
export async function caddyfile({ port, api, gateway = 1, tls }: ProxySite): Promise<string> {
  const text = await readFile(join(root, 'docs/proxy/Caddyfile'), 'utf8');
  const site = (name: string) => (tls ? `https://${name}:${port + 1}` : `http://${name}:${port}`);
  const certificate = tls ? `\ttls ${tls.certificate} ${tls.key}\n` : '';
  return `{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n${replaced(text, [
    ['{$SHOP_HOST:shop.example} {\n', `${site('shop.example')} {\n${certificate}`],
    ['{$LLM_HOST:llm.example} {\n', `${site('llm.example')} {\n${certificate}`],
    ['{$SHOP_API:127.0.0.1:8080 127.0.0.1:8090}', api.map((at) => `127.0.0.1:${at}`).join(' ')],
    ['{$SHOP_GATEWAY:127.0.0.1:8081}', `127.0.0.1:${gateway}`],
  ])}`;
}
