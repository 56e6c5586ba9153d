import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { examplePng } from '@tradepost/testing/routes/multipart';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/**
 * Staff decorate the home page, and a visitor opens it in a browser. The page of this test is a minimal storefront on another
 * origin: it trusts rich text as storefronts do, with innerHTML.
 */
const browserPath = '/usr/bin/chromium';
const hasBrowser = existsSync(browserPath);
if (!hasBrowser) console.log(`skipped: no decorated page is opened, there is no ${browserPath}`);

const reader = (api: string) => `<!doctype html><meta charset="utf-8"><title>Shop</title><main></main><script>
  window.ran = [];
  const add = (parent, name, fields = {}) => parent.appendChild(Object.assign(document.createElement(name), fields));
  const renderers = {
    banner: (box, { images }) => images.forEach(({ url, link }) => add(add(box, 'a', { href: link }), 'img', { src: url })),
    image_ad: (box, { url, link }) => add(add(box, 'a', { href: link }), 'img', { src: url }),
    rich_text: (box, { content }) => { box.innerHTML = content; },
    hero: (box, { title, btn_text, btn_link }) => {
      box.innerHTML = '<h1>' + title + '</h1>';
      add(box, 'a', { href: btn_link, textContent: btn_text });
    },
  };
  fetch('${api}/api/v1/decor/pc').then((answer) => answer.json()).then(({ data }) => {
    const { pageStyle, components } = data.components;
    document.body.style.background = pageStyle.background.solidColor;
    for (const { type, props } of components) renderers[type]?.(add(document.querySelector('main'), 'section', { className: type }), props);
    window.isRendered = true;
  });
</script>`;

/** Each would call ran.push when it ran in the page, at once or when it is clicked. */
const attacks: readonly string[] = [
  '<script>ran.push(1)</script>',
  '<img src=x onerror="ran.push(2)">',
  '<a href="javascript:ran.push(3)">a</a>',
  '<a href="java&#9;script:ran.push(4)">a</a>',
  '<a href="&#x6A;avascript:ran.push(5)">a</a>',
  '<a href="\u0001javascript:ran.push(6)">a</a>',
  '<svg onload="ran.push(7)"><a xlink:href="javascript:ran.push(8)"><text>a</text></a></svg>',
  '<svg><animate onbegin="ran.push(9)" attributeName="x" dur="1s"/><script>ran.push(10)</script></svg>',
  '<iframe src="javascript:parent.ran.push(11)"></iframe><iframe srcdoc="<script>parent.ran.push(12)</script>"></iframe>',
  '<img src="data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22 onload=%22parent.ran.push(13)%22/>">',
  '<object data="data:text/html,<script>parent.ran.push(14)</script>"></object><embed src="javascript:ran.push(15)">',
  '<details open ontoggle="ran.push(16)"><summary>a</summary></details>',
  '<p style="background:url(javascript:ran.push(17));animation:x" onanimationstart="ran.push(18)">a</p>',
  '<input autofocus onfocus="ran.push(19)"><button formaction="javascript:ran.push(20)" form=f>a</button><form id=f></form>',
  // Mutation: the parser of the browser reads these in another way than a simple one.
  '<noscript><p title="</noscript><img src=x onerror=ran.push(21)>"></noscript>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=ran.push(22)&gt;">',
  '<svg></p><style><a id="</style><img src=x onerror=ran.push(23)>">',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=ran.push(24)>',
  '<textarea><p title="</textarea><img src=x onerror=ran.push(25)>"></textarea>',
  '<title><p title="</title><img src=x onerror=ran.push(26)>"></title>',
  '<xmp><p title="</xmp><img src=x onerror=ran.push(27)>"></xmp>',
  '<template><img src=x onerror="ran.push(28)"></template><plaintext><img src=x onerror="ran.push(29)">',
  '<img src="x` `<script>ran.push(30)</script>"` `>',
  '<!--><img src=x onerror=ran.push(31)>--><![CDATA[<img src=x onerror=ran.push(32)>]]><? <img src=x onerror=ran.push(33)> ?>',
  '<a href="x" onclick="ran.push(34)" id="isRendered" name="ran">a</a>',
  '<b <script>ran.push(35)</script> onmouseover="ran.push(36)">a</b>',
  '<img src=x onerror=ran.push(37)//',
  '<base href="javascript:ran.push(38)//"><meta http-equiv="refresh" content="0;url=javascript:ran.push(39)"><link rel=stylesheet href="x">',
];

/** Touches every element as a visitor could. Ordinary links would leave the page. */
const touchAll = `
  for (const element of document.querySelectorAll('main *'))
    for (const name of ['focus', 'mouseover', 'toggle', 'animationstart', 'click']) {
      if (name !== 'click') element.dispatchEvent(new Event(name, { bubbles: true }));
      else if (!(element instanceof HTMLAnchorElement) || /script/i.test(element.protocol)) element.click?.();
    }`;

describe.skipIf(!hasBrowser)('a decorated page in a browser', () => {
  let shop: Shop;
  let site: Server;
  let browser: Browser;
  let token: string;
  beforeAll(async () => {
    shop = await openShop();
    token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    site = createServer((_, response) => response.setHeader('content-type', 'text/html').end(reader(shop.url)));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({
      executablePath: browserPath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      headless: true,
    });
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await shop?.close();
  });

  const decor = (method: string, path: string, body?: unknown) =>
    shop.call(method, `/admin/api/decor/${path}`, { token, body });
  async function publish(components: readonly object[]): Promise<void> {
    const saved = await decor('PUT', 'pc', {
      components: { pageStyle: { background: { solidColor: '#102030' } }, components },
    });
    expect(saved.message).toBe('success');
    await decor('POST', 'pc/publish');
  }
  async function open() {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('dialog', (dialog) => dialog.dismiss());
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.waitForFunction('window.isRendered === true');
    return { page, errors };
  }

  test('is drawn with its style, and uploaded pictures are shown, also those in rich text', async () => {
    const form = new FormData();
    form.append('file', new File([examplePng], 'banner.png', { type: 'image/png' }));
    const { data } = await shop.call('POST', '/admin/api/upload', { token, body: form });
    await publish([
      { id: 'a', type: 'banner', props: { images: [{ url: data.url, link: '/products/1' }] } },
      { id: 'b', type: 'image_ad', props: { url: '/uploads/demo/enamel-mug.svg', link: '/products' } },
      {
        id: 'c',
        type: 'rich_text',
        props: { content: `<p style="text-align:center"><b>Sale</b><img src="${data.url}"></p>` },
      },
      { id: 'd', type: 'hero', props: { title: 'Made for<br>home', btn_text: 'Go', btn_link: '/products' } },
    ]);
    const { page, errors } = await open();
    const widths = await page.$$eval('img', async (images) => {
      await Promise.all(images.map((image) => image.decode().catch(() => {})));
      return images.map((image) => image.naturalWidth);
    });
    expect(widths).toHaveLength(3);
    expect(widths.filter((width) => !(width > 0))).toEqual([]);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.rich_text p')).textAlign`)).toBe('center');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(16, 32, 48)');
    expect(await page.$eval('h1', (title) => title.innerText)).toBe('Made for\nhome');
    expect(errors).toEqual([]);
    await page.close();
  });

  test('runs no script of its rich text, and its other links cannot have one', async () => {
    for (const link of ['javascript:ran.push(0)', ' javascript:ran.push(0)', 'data:text/html,x'])
      for (const props of [{ btn_link: link }, { images: [{ url: '/a.png', link }] }, { url: link }])
        expect((await decor('PUT', 'pc', { components: [{ type: 'banner', props }] })).code).toBe(400);
    await publish([
      ...attacks.map((content) => ({ type: 'rich_text', props: { content } })),
      ...attacks.map((title) => ({ type: 'hero', props: { title, btn_text: '', btn_link: '/' } })),
      { type: 'rich_text', props: { content: attacks.join('') } },
    ]);
    const { page } = await open();
    await page.evaluate(touchAll);
    await page.waitForTimeout(300);
    expect(await page.evaluate('window.ran')).toEqual([]);
    expect(
      await page.$$eval(
        'main script, main iframe, main svg, main style, main object, main form, main base',
        (all) => all.length,
      ),
    ).toBe(0);
    // Without the sanitiser they run: the test would notice.
    await page.evaluate(`document.querySelector('main').innerHTML = ${JSON.stringify(attacks.join(''))}; ${touchAll}`);
    await page.waitForFunction('window.ran.length > 5');
    await page.close();
  });
});
