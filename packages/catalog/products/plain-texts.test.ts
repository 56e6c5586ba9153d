import { Readable } from 'node:stream';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importProducts } from '../index.ts';

/**
 * A plain field in the back office is the text of the shop's language. The other languages keep their texts and are
 * marked as outdated. The shop's language is Chinese, the default.
 */
let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(() => shop?.close());

const admin = (method: string, path: string, body?: unknown, lang = 'en') =>
  shop.call(method, `/admin/api${path}`, { token, lang, ...(body === undefined ? {} : { body }) });
const page = (text: string) => ({ version: 1, blocks: [{ id: 'a', type: 'text', props: { text } }] });

type Seen = { title: string; subtitle: string; detail: unknown };
async function read(id: number, lang: string): Promise<Seen> {
  const { title, subtitle, detail } = (await shop.call('GET', `/api/v1/products/${id}`, { lang })).data;
  return { title, subtitle, detail };
}
const form = async (id: number, lang = 'en') => (await admin('GET', `/products/${id}`, undefined, lang)).data;
const put = async (id: number, product: object) =>
  expect((await admin('PUT', `/products/${id}`, { product })).code).toBe(0);
const rowOf = async (id: number) =>
  (await shop.database.sql`select title, subtitle, detail, translations from catalog.products where id = ${id}`)[0];

const english = { title: 'Enamel mug', subtitle: 'Light', detail: page('English') };
const inChinese = { title: '搪瓷杯', subtitle: '轻便', detail: page('中文') };
/**
 * The same kinds of texts as in the demo shop: English base texts, a Chinese translation, translated words of the
 * specifications.
 */
async function product(): Promise<number> {
  const { data } = await admin('POST', '/products', {
    product: { ...english, price: 10, translations: { 'zh-CN': { ...inChinese, specs: { Colour: '颜色' } } } },
    spec_schema: [{ name: 'Colour', values: ['Cream'] }],
  });
  return data.id;
}

describe('a product', () => {
  test('an edited title, subtitle and page are shown to readers of the shop’s language immediately, and only to them', async () => {
    const id = await product();
    const edited = { title: '新杯子', subtitle: '', detail: page('新') };
    await put(id, edited);
    expect(await read(id, 'zh-CN')).toEqual(edited);
    expect(await read(id, 'en')).toEqual(english);
    expect((await shop.call('GET', '/api/v1/products?keyword=新杯子', { lang: 'zh-CN' })).data.list[0].title).toBe(
      '新杯子',
    );
    expect((await admin('GET', `/products?keyword=${id}`, undefined, 'zh-CN')).data.list[0].title).toBe('新杯子');
    expect((await form(id)).translations['zh-CN']).toEqual({ specs: { Colour: '颜色' } });
  });

  test('the form shows the shop’s language for any language of the browser; an unchanged form changes nothing', async () => {
    const id = await product();
    for (const lang of ['en', 'zh-CN']) {
      const shown = await form(id, lang);
      expect(shown).toMatchObject({ ...inChinese, translations: { en: english } });
      await put(id, { ...shown, price: 12 });
      expect(await read(id, 'zh-CN')).toEqual(inChinese);
      expect(await read(id, 'en')).toEqual(english);
      expect((await form(id)).translations.en).toEqual(english);
    }
  });

  test('the other language is marked as outdated until its text changes or the mark is removed', async () => {
    const id = await product();
    await put(id, { title: '杯一', subtitle: '二' });
    expect((await form(id)).translations.en).toEqual({ ...english, outdated: ['title', 'subtitle'] });
    // A form that does not send marks leaves them unchanged.
    await put(id, { price: 11 });
    const shown = await form(id);
    await put(id, {
      title: shown.title,
      translations: { ...shown.translations, en: { ...english, title: 'Mug one' } },
    });
    expect((await form(id)).translations.en).toEqual({ ...english, title: 'Mug one', outdated: ['subtitle'] });
    await put(id, { translations: { en: { ...english, title: 'Mug one', outdated: [] } } });
    expect((await form(id)).translations.en).toEqual({ ...english, title: 'Mug one' });
    expect(await read(id, 'zh-CN')).toMatchObject({ title: '杯一', subtitle: '二' });
    expect((await shop.call('GET', `/api/v1/products/${id}`)).data, 'shoppers see no marks').not.toHaveProperty(
      'translations',
    );
    const answer = await admin('PUT', `/products/${id}`, {
      product: { translations: { en: { outdated: ['price'] } } },
    });
    expect(answer).toMatchObject({ code: 400, message: expect.stringContaining('outdated') });
  });

  test('without a translation the readers of all languages get the edited text', async () => {
    const { data } = await admin('POST', '/products', { product: { title: 'Plain', price: 1 } });
    await put(data.id, { title: '素' });
    for (const lang of ['en', 'zh-CN']) expect((await read(data.id, lang)).title).toBe('素');
    expect((await form(data.id)).translations).toEqual({});
  });

  test.each([
    [{ title: 'Both', translations: { 'zh-CN': { title: '两者' } } }, 'Both', '两者'],
    [{ title: '新', translations: { en: { title: 'New' } } }, 'New', '新'],
    [{ title: '新', translations: {} }, '新', '新'],
    [{ translations: { en: { title: 'New' } } }, 'New', '搪瓷杯'],
    [{ translations: { 'zh-CN': { title: '只' } } }, '只', '只'],
    [{ title: '新', translations: { en: { title: '' } } }, '新', '新'],
  ])('with translations: %j reads %s and %s, and a repeat changes nothing', async (body, en, zh) => {
    const id = await product();
    await put(id, body);
    expect([(await read(id, 'en')).title, (await read(id, 'zh-CN')).title]).toEqual([en, zh]);
    const once = await rowOf(id);
    await put(id, body);
    expect(await rowOf(id)).toEqual(once);
  });

  test('when the shop’s language changes, the plain field has the text of the new language', async () => {
    const id = await product();
    await put(id, { title: '先' });
    await shop.server.runtime.settings.set('shop.locale', 'en');
    try {
      expect(await form(id)).toMatchObject({ title: 'Enamel mug', translations: { 'zh-CN': { title: '先' } } });
      await put(id, { title: 'Later' });
      expect([(await read(id, 'en')).title, (await read(id, 'zh-CN')).title]).toEqual(['Later', '先']);
      expect((await form(id)).translations['zh-CN'].outdated).toEqual(['title']);
    } finally {
      await shop.server.runtime.settings.unset('shop.locale');
    }
  });

  test('an order placed later has the edited text, an earlier order keeps its text', async () => {
    const id = await product();
    const { token: buyer, address_id } = await shop.shopper();
    const sku = (await form(id)).skus[0].id;
    await admin('PUT', `/products/${id}`, { sku_overrides: [{ sku_key: 'Colour:Cream', stock: 5 }] });
    const buy = async () => {
      const body = { address_id, items: [{ sku_id: sku }] };
      const { data } = await shop.call('POST', '/api/v1/orders', { token: buyer, lang: 'zh-CN', body });
      return async () =>
        (await shop.call('GET', `/api/v1/orders/${data.id}`, { token: buyer, lang: 'en' })).data.items[0].title;
    };
    const before = await buy();
    await put(id, { title: '后来' });
    const after = await buy();
    expect([await before(), await after()]).toEqual(['搪瓷杯', '后来']);
  });
});

describe('a category', () => {
  const named = async (id: number, lang: string) =>
    (await shop.call('GET', '/api/v1/categories', { lang })).data.find((row: { id: number }) => row.id === id).name;
  const rowIn = async (id: number, lang = 'en') =>
    (await admin('GET', '/categories', undefined, lang)).data.find((row: { id: number }) => row.id === id);
  const make = async () =>
    (await admin('POST', '/categories', { name: 'Mugs', translations: { 'zh-CN': { name: '杯子' } } })).data
      .id as number;

  test('an edited name is shown to readers of the shop’s language; the other languages keep theirs, marked as outdated', async () => {
    const id = await make();
    expect(await rowIn(id)).toMatchObject({ name: '杯子', translations: { en: { name: 'Mugs' } } });
    expect((await admin('PUT', `/categories/${id}`, { name: '茶杯' })).code).toBe(0);
    expect([await named(id, 'zh-CN'), await named(id, 'en')]).toEqual(['茶杯', 'Mugs']);
    expect((await rowIn(id)).translations).toEqual({ en: { name: 'Mugs', outdated: ['name'] } });
    const tree = (await admin('GET', '/categories/tree')).data;
    expect(tree.find((row: { id: number }) => row.id === id).name).toBe('茶杯');
  });

  test('a console may send back the whole row of the list with a new name', async () => {
    const id = await make();
    const row = await rowIn(id);
    for (let i = 0; i < 2; i += 1) {
      expect((await admin('PUT', `/categories/${id}`, { ...row, name: '马克杯' })).code).toBe(0);
      expect([await named(id, 'zh-CN'), await named(id, 'en')]).toEqual(['马克杯', 'Mugs']);
    }
  });

  test('names and paths of one answer are in the same language', async () => {
    const id = await make();
    const { data } = await admin('POST', '/products', {
      product: { ...english, price: 1, category_id: id, translations: { 'zh-CN': inChinese } },
    });
    for (const [lang, title, path] of [
      ['en', 'Enamel mug', 'Mugs'],
      ['zh-CN', '搪瓷杯', '杯子'],
    ] as const) {
      const { list } = (await admin('GET', `/products?category_id=${id}`, undefined, lang)).data;
      expect(list[0]).toMatchObject({ title, category_path_name: path });
      expect(await form(data.id, lang)).toMatchObject({ title: '搪瓷杯', category_path_name: '杯子' });
    }
  });
});

describe('a file of products', () => {
  const importFile = (lines: string[]) =>
    importProducts(shop.database.sql, Readable.from([Buffer.from(lines.join('\r\n'))]), { locale: 'zh-CN' });

  test('without a column of the shop’s language, a changed title is for readers of that language; a second import changes nothing', async () => {
    const id = await product();
    const lines = ['product_id,title', `${id},新名`];
    expect(await importFile(lines)).toMatchObject({ updated: 1, faults: 0 });
    expect([(await read(id, 'zh-CN')).title, (await read(id, 'en')).title]).toEqual(['新名', 'Enamel mug']);
    expect((await form(id)).translations.en.outdated).toEqual(['title']);
    expect(await importFile(lines)).toMatchObject({ unchanged: 1 });
  });

  test('an unchanged base text is not a change, also without the columns of the languages', async () => {
    const id = await product();
    expect(await importFile(['product_id,title,price', `${id},Enamel mug,99`])).toMatchObject({
      updated: 1,
      faults: 0,
    });
    expect((await read(id, 'zh-CN')).title).toBe('搪瓷杯');
  });

  test('with that column, each column sets its own language', async () => {
    const id = await product();
    expect(await importFile(['product_id,title,title_zh-CN', `${id},Cup,杯`])).toMatchObject({ updated: 1 });
    expect([(await read(id, 'zh-CN')).title, (await read(id, 'en')).title]).toEqual(['杯', 'Cup']);
  });
});
