import { AppError } from '@tradepost/core';
import { describe, expect, test } from 'vitest';
import { maxPageBytes, maxRichText } from '../limits.ts';
import { withFileUrls } from './clean-texts.ts';
import { emptyComponents, readComponents } from './read-components.ts';

const origin = 'http://shop.example';
const relative = (url: string) => (url.startsWith(`${origin}/uploads/`) ? url.slice(origin.length) : url);
const read = (page: string, value: unknown) => JSON.parse(readComponents(page, value, { locale: 'en', relative }));
const refusal = (page: string, value: unknown): string => {
  try {
    read(page, value);
    return 'accepted';
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
};
const withProps = (props: unknown) => [{ type: 'any', props }];
const cleaned = (html: string): string => read('index', withProps({ content: html }))[0].props.content;

describe('the form of a page', () => {
  test('a mobile page is a list, the PC page an object; both also as JSON text', () => {
    const component = { id: 'a', type: 'spacer', props: { height: 3, extra: { deep: [1, null, true] } }, locked: true };
    expect(read('index', [component])).toEqual([component]);
    expect(read('index', JSON.stringify([component]))).toEqual([component]);
    const page = read('pc', JSON.stringify({ components: [component] }));
    expect([page.components, page.pageStyle.content.maxWidth]).toEqual([[component], 1280]);
    expect(read('pc', [component])).toEqual(page);
    expect(JSON.stringify(read('pc', {}))).toBe(emptyComponents('pc'));
  });

  test.each([
    ['index', { components: [] }, 'components: must be a list'],
    ['index', '[', 'components: the text is not valid JSON'],
    ['index', '7', 'components: must be a list'],
    ['index', [1], 'components[0]: must be an object'],
    ['index', [{ type: 'a' }, {}], 'components[1].type: is missing'],
    ['index', [{ type: ' ' }], 'components[0].type: must not be empty'],
    ['index', [{ type: 'a', props: [] }], 'components[0].props: must be an object'],
    ['index', Array(201).fill({ type: 'a' }), 'components: must have at most 200 entries'],
    ['pc', { components: [{ type: 1 }] }, 'components.components[0].type: must be a text'],
    ['index', withProps({ a: 'x\0' }), 'components: must not contain NUL or broken Unicode'],
    ['index', withProps({ a: '\ud800' }), 'components: must not contain NUL or broken Unicode'],
  ])('%s %j is refused', (page, value, message) => {
    expect(refusal(page, value)).toBe(message);
  });
});

test('a page that is too large or too deep is refused', () => {
  expect(refusal('index', withProps({ a: 'x'.repeat(maxPageBytes) }))).toBe(
    `components: must have at most ${maxPageBytes} bytes as JSON`,
  );
  for (const levels of [17, 100_000])
    expect(refusal('index', `${'['.repeat(levels)}${']'.repeat(levels)}`)).toBe(
      'components: at most 16 levels of objects and lists',
    );
});

describe('the style of the PC page', () => {
  const style = (pageStyle: unknown) => read('pc', { pageStyle, components: [] }).pageStyle;

  test('absent, empty and null fields get their defaults, and numbers may be text', () => {
    const { background, content } = style({
      background: { solidColor: ' ', overlay: null },
      content: { maxWidth: '1440', gutterX: '', sectionGap: null },
    });
    expect(background.overlay).toEqual({ enabled: false, color: '#000000', opacity: 0.2 });
    expect([background.solidColor, content]).toEqual(['#f8fafc', { maxWidth: 1440, gutterX: 24, sectionGap: 24 }]);
  });

  test('all fields of the contract are kept', () => {
    const full = {
      background: {
        mode: 'image',
        solidColor: 'rgb(1 2 3)',
        gradient: {
          angle: 45,
          stops: [
            { color: '#fff', position: 0 },
            { color: '#000', position: 100 },
          ],
        },
        image: {
          url: '/uploads/2026/11/1795468397123456789_0123456789ab.png',
          size: 'custom',
          customSize: '50% auto',
          position: 'center top',
          repeat: 'repeat-x',
          attachment: 'fixed',
        },
        overlay: { enabled: true, color: '#123456', opacity: 0.5 },
      },
      content: { maxWidth: 320, gutterX: 0, sectionGap: 40 },
      surface: { radius: 0, shadow: 'lg' },
    };
    expect(style(full)).toEqual(full);
    expect(
      style({ ...full, background: { ...full.background, image: { url: origin + full.background.image.url } } })
        .background.image.url,
    ).toBe(full.background.image.url);
  });

  test.each([
    [{ content: { maxWidth: 319 } }, 'content.maxWidth: must be at least 320'],
    [{ content: { maxWidth: 'wide' } }, 'content.maxWidth: must be a number'],
    [{ content: { gutterX: -1 } }, 'content.gutterX: must be at least 0'],
    [{ content: { sectionGap: 401 } }, 'content.sectionGap: must be at most 400'],
    [{ surface: { radius: 201 } }, 'surface.radius: must be at most 200'],
    [{ surface: { shadow: 'xl' } }, 'surface.shadow: must be one of none, sm, md, lg'],
    [{ background: { mode: 'video' } }, 'background.mode: must be one of solid, gradient, image'],
    [{ background: { mode: 'gradient' } }, 'background.gradient: is missing'],
    [{ background: { mode: 'image' } }, 'background.image: is missing'],
    [
      { background: { gradient: { stops: [{ color: '#fff' }] } } },
      'background.gradient.stops: must have at least 2 entries',
    ],
    [
      { background: { gradient: { stops: [{}, { position: 101 }] } } },
      'background.gradient.stops[1].position: must be at most 100',
    ],
    [{ background: { overlay: { opacity: 1.1 } } }, 'background.overlay.opacity: must be at most 1'],
    [
      { background: { solidColor: 'red;position:fixed' } },
      'background.solidColor: must be a CSS colour such as #1f6feb',
    ],
    [
      { background: { image: { url: 'javascript:alert(1)' } } },
      'background.image.url: must be a path of this shop or an http address, without spaces, quotes and brackets',
    ],
    [
      { background: { image: { url: '/a.png)' } } },
      'background.image.url: must be a path of this shop or an http address, without spaces, quotes and brackets',
    ],
    [{ background: { image: { url: '/a.png', position: 'top;x' } } }, 'background.image.position: Invalid input'],
  ])('%j is refused', (pageStyle, message) => {
    expect(refusal('pc', { pageStyle })).toBe(`components.pageStyle.${message}`);
  });

  test('the style of a component keeps its other fields, and refuses wrong ones', () => {
    const of = (given: object) => read('pc', { components: [{ type: 'a', style: given }] }).components[0].style;
    expect(of({ marginTop: '-12', paddingX: '', backgroundColor: '', shadow: 'sm', own: 1 })).toEqual({
      marginTop: -12,
      backgroundColor: '',
      shadow: 'sm',
      own: 1,
    });
    expect(refusal('index', [{ type: 'a', style: { borderColor: 'url(x)' } }])).toBe(
      'components[0].style.borderColor: must be a CSS colour such as #1f6feb',
    );
  });
});

describe('addresses', () => {
  const scripts = [
    'javascript:alert(1)',
    ' JaVa\tscript:alert(1)',
    '\u0001javascript:x',
    'vbscript:x',
    'data:text/html,x',
    'java\u200bscript:x',
    'blob:http://a/b',
    'javascript:alert(1)//<b>',
    'java&Tab;script:alert(1)//<b>',
    '<script>1</script>javascript:alert(1)',
    '<!-- -->javascript:alert(1)',
    '<title>x</title> data:text/html,x',
  ];
  test.each(scripts)('%j is refused as a link or picture, wherever it is', (url) => {
    const message = 'this kind of address is not allowed';
    expect(refusal('index', withProps({ btn_link: url }))).toBe(`components[0].props.btn_link: ${message}`);
    expect(refusal('index', withProps({ images: [{ url: '/a' }, { link: url }] }))).toBe(
      `components[0].props.images[1].link: ${message}`,
    );
    expect(refusal('index', withProps({ images: [url] }))).toBe(`components[0].props.images[0]: ${message}`);
    expect(refusal('pc', { components: [{ type: 'a', other: { x: url } }] })).toBe(
      `components.components[0].other.x: ${message}`,
    );
  });

  test('ordinary addresses, texts and product titles are stored as they are', () => {
    const props = {
      link: 'https://a.example/?q=javascript:1',
      url: '/pages/goods?id=1',
      app_link: 'weixin://dl/business',
      phone: 'tel:400',
      title: 'JavaScript: the basics',
      text: '5 < 6 & 7 > 2',
      subtitle: 'line\nbreak',
    };
    expect(read('index', withProps(props))[0].props).toEqual(props);
  });

  test('uploaded files are stored by path and answered with their address, also inside rich text', () => {
    const sent = withProps({
      url: `${origin}/uploads/a.png`,
      content: `<p><img src="${origin}/uploads/b.png" alt="b" /></p>`,
      link: '/products/1',
    });
    const stored = read('index', sent);
    expect(stored[0].props).toEqual({
      url: '/uploads/a.png',
      content: '<p><img src="/uploads/b.png" alt="b" /></p>',
      link: '/products/1',
    });
    expect(withFileUrls(stored, `${origin}/uploads/`)).toEqual(sent);
  });
});

describe('rich text', () => {
  test('what editors write stays as it is, and sanitising it again changes nothing', () => {
    const html =
      '<h2 style="text-align:center">Sale</h2><p class="ql-align-center"><strong>A</strong> &amp; <span style="color:#f00;font-size:18px">B</span><br /></p>' +
      '<ul><li>one</li></ul><table border="1"><tbody><tr><td colspan="2">x</td></tr></tbody></table>' +
      '<a href="/products/1">more</a><img src="https://a.example/b.png" alt="b" width="100" /><video src="/uploads/v.mp4" controls></video>';
    expect(cleaned(html)).toBe(html);
    expect(cleaned(cleaned(html))).toBe(cleaned(html));
  });

  test.each([
    ['<script>alert(1)</script>', ''],
    ['<p onclick="x()">a</p>', '<p>a</p>'],
    ['<img src=x onerror=alert(1)>', '<img src="x" />'],
    ['<img src=x onerror=alert(1)', ''],
    ['<a href="javascript:alert(1)">a</a>', '<a>a</a>'],
    ['<a href="java\nscript:alert(1)">a</a>', '<a>a</a>'],
    ['<a href="&#106;avascript:alert(1)">a</a>', '<a>a</a>'],
    ['<a href="data:text/html,<script>x</script>">a</a>', '<a>a</a>'],
    ['<a href="/x" target="_blank">a</a>', '<a href="/x" target="_blank" rel="noopener noreferrer">a</a>'],
    ['<img src="data:image/svg+xml,<svg onload=alert(1)>">', ''],
    ['<svg><script>alert(1)</script></svg>', ''],
    ['<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>', ''],
    ['<iframe src="https://a.example"></iframe><object data="x"></object>', ''],
    ['<p style="position:fixed;color:red;background:url(javascript:x)">a</p>', '<p style="color:red">a</p>'],
    ['<p id="cart" name="x" class="overlay">a</p>', '<p>a</p>'],
    ['<form action="/x"><input name="a"><button>go</button></form>', 'go'],
    ['<!--[if IE]><script>x</script><![endif]-->a', 'a'],
    ['<noscript><p title="</noscript><img src=x onerror=alert(1)>">', ''],
  ])('%s becomes %s', (html, expected) => {
    expect(cleaned(html)).toBe(expected);
  });

  test('tags are sanitised in every field, because a client may show it as HTML', () => {
    const [{ props }] = read('index', [
      { type: 'hero', props: { title: 'A<br>B<script>x</script>', items: ['<b onclick=x>c</b>'] } },
    ]);
    expect(props).toEqual({ title: 'A<br />B', items: ['<b>c</b>'] });
  });

  test('hostile text of the largest size is sanitised in little time, and a longer one is refused', () => {
    const began = performance.now();
    for (const part of [
      '<x>',
      '<b>',
      '<a href="',
      '<p style="color:red;',
      '<!--',
      '</p',
      '<table><tr><td>',
      '<img src=x ',
    ])
      cleaned(part.repeat(Math.floor(maxRichText / part.length)));
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(refusal('index', withProps({ content: '<b>'.repeat(maxRichText / 2) }))).toBe(
      `components[0].props.content: a text with tags must have at most ${maxRichText} characters`,
    );
  });
});
