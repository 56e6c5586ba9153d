import { runAudits } from '@tradepost/runtime';
import { contract, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentAudits } from '../content-audits.ts';

let shop: Shop;
let token: string;
let pages = 0;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['decor:view', 'decor:edit'] });
});
afterAll(() => shop?.close());

const admin = (method: string, path: string, body?: unknown, lang = 'en') =>
  shop.call(method, `/admin/api/decor/${path}`, { token, lang, ...(body === undefined ? {} : { body }) });
const read = async (path: string, lang = 'en') => (await shop.call('GET', `/api/v1/${path}`, { lang })).data;
const newPage = () => {
  pages += 1;
  return `page${pages}`;
};
const spacer = (height: number) => [{ id: 'a', type: 'spacer', props: { height } }];
const save = (page: string, height: number, variant = 'default') =>
  admin('PUT', `${page}?variant=${variant}`, { components: spacer(height) });
const publish = (page: string, variant = 'default') => admin('POST', `${page}/publish?variant=${variant}`);
const shownHeight = async (path: string) => (await read(`decor/${path}`)).components[0]?.props.height;

const defaultStyle = {
  background: {
    mode: 'solid',
    solidColor: '#f8fafc',
    overlay: { enabled: false, color: '#000000', opacity: 0.2 },
  },
  content: { maxWidth: 1280, gutterX: 24, sectionGap: 24 },
  surface: { radius: 12, shadow: 'none' },
};

describe('a page that was never saved', () => {
  test('has id 0, and the components of its kind', async () => {
    const index = await read('index/decor');
    expectFields(index, contract.decorPage);
    expect(index).toMatchObject({ id: 0, page_key: 'index', variant_key: 'default', components: [] });
    const pc = await read('decor/pc');
    expectFields(pc, contract.decorPage);
    expect(pc.components).toEqual({ pageStyle: defaultStyle, components: [] });
    expect((await read('decor/unknown?variant=x')).variant_key).toBe('x');
    expect([index.variant_name, (await read('index/decor', 'zh-CN')).variant_name]).toEqual(['Default', '默认版本']);
  });

  test('is listed as one variant, and editors get JSON text for a mobile page and an object for the PC page', async () => {
    const page = newPage();
    const { data } = await admin('GET', `${page}/variants`);
    expect(data).toHaveLength(1);
    expectFields(data[0], contract.decorPage);
    expect([data[0].id, data[0].components]).toEqual([0, '[]']);
    expect((await admin('GET', 'pc')).data.components).toEqual({ pageStyle: defaultStyle, components: [] });
  });

  test('can be published, renamed and copied', async () => {
    expect((await publish(newPage())).data).toMatchObject({ variant_key: 'default', is_published: true });
    const renamed = await admin('PUT', `${newPage()}/variants/default`, { variant_name: 'Main' });
    expect(renamed.data.variant_name).toBe('Main');
    const copy = { from_variant_key: 'default', new_variant_key: 'b', new_variant_name: 'B' };
    expect((await admin('POST', `${newPage()}/copies`, copy)).data).toMatchObject({
      variant_key: 'b',
      id: expect.any(Number),
    });
  });
});

describe('publishing', () => {
  test('a page goes live when it is published, and a later draft does not change it', async () => {
    const page = newPage();
    expect((await save(page, 1)).data).toMatchObject({ is_published: false, published_at: null });
    const published = await publish(page);
    expect(published.data).toMatchObject({ is_published: true, has_changes: false });
    expectFields(published.data, contract.decorPage);
    expect(await shownHeight(page)).toBe(1);
    expect((await save(page, 2)).data).toMatchObject({ is_published: true, has_changes: true });
    expect([await shownHeight(page), await shownHeight(`${page}?variant=default`)]).toEqual([1, 1]);
    expect(JSON.parse((await admin('GET', page)).data.components)).toEqual(spacer(2));
    await publish(page);
    expect(await shownHeight(page)).toBe(2);
  });

  test('a published variant replaces the one before, which is listed after it', async () => {
    const page = newPage();
    await save(page, 1);
    await publish(page);
    await save(page, 2, 'summer');
    expect(await shownHeight(page)).toBe(1);
    await publish(page, 'summer');
    expect(await shownHeight(page)).toBe(2);
    await save(page, 3);
    const { data } = await admin('GET', `${page}/variants`);
    expect(data.map((row: Record<string, unknown>) => [row.variant_key, row.is_published])).toEqual([
      ['summer', true],
      ['default', false],
    ]);
    expect(data[1].published_at).not.toBeNull();
  });

  test('of twenty variants that are published at once exactly one is live, and shoppers see it', async () => {
    const page = newPage();
    const variants = Array.from({ length: 20 }, (_, i) => `v${i}`);
    await Promise.all(variants.map((variant, i) => save(page, i, variant)));
    await publish(page, 'v0');
    for (const many of [variants.slice(0, 2), variants]) {
      const answers = await Promise.all(many.map((variant) => publish(page, variant)));
      expect(answers.map(({ code }) => code)).toEqual(many.map(() => 0));
      const live = await shop.database.sql<{ variant_key: string }[]>`
        select variant_key from content.decor_variants where page_key = ${page} and is_published`;
      expect(live).toHaveLength(1);
      expect((await read(`decor/${page}`)).variant_key).toBe(live[0]!.variant_key);
    }
    const broken = (await runAudits(shop.database.sql, contentAudits)).filter(({ rows }) => rows.length > 0);
    expect(broken).toEqual([]);
  });

  test('without a published variant shoppers get the saved default variant', async () => {
    const page = newPage();
    await save(page, 1);
    await save(page, 2, 'other');
    expect(await read(`decor/${page}`)).toMatchObject({
      variant_key: 'default',
      is_published: false,
      components: spacer(1),
    });
  });

  test('a variant that was never published is shown by its key, unless drafts are closed', async () => {
    const page = newPage();
    await save(page, 1, 'secret');
    expect(await shownHeight(`${page}?variant=secret`)).toBe(1);
    const { settings } = shop.server.runtime;
    await settings.set('content.open_drafts', false);
    expect(await read(`decor/${page}?variant=secret`)).toMatchObject({ id: 0, components: [] });
    await publish(page, 'secret');
    expect(await shownHeight(`${page}?variant=secret`)).toBe(1);
    await settings.unset('content.open_drafts');
  });

  test('with closed drafts the saved default variant is shown after it was published, and not before', async () => {
    const page = newPage();
    await save(page, 1);
    const { settings } = shop.server.runtime;
    await settings.set('content.open_drafts', false);
    expect(await read(`decor/${page}`)).toMatchObject({ id: 0, components: [] });
    expect(await read(`decor/${page}?variant=default`)).toMatchObject({ id: 0, components: [] });
    await publish(page);
    expect(await shownHeight(page)).toBe(1);
    await settings.unset('content.open_drafts');
  });
});

describe('variants', () => {
  test('keys are trimmed, in lower case and without spaces; a blank key is the default variant', async () => {
    const page = newPage();
    expect((await save(page, 1, '%20Summer Sale ')).data.variant_key).toBe('summer_sale');
    expect((await save(page, 2, '%20')).data.variant_key).toBe('default');
    expect((await save(page, 3, '夏季')).data.variant_key).toBe('夏季');
    expect((await admin('PUT', `${page}/variants/%E5%A4%8F%E5%AD%A3`, { variant_name: '' })).data.variant_name).toBe(
      '夏季',
    );
    expect((await admin('PUT', `${page}?variant=a%00b`, { components: [] })).message).toMatch(/^variant: /);
  });

  test('a copy has the draft and its own name, and is refused onto itself and onto a variant that exists', async () => {
    const page = newPage();
    await save(page, 1);
    await publish(page);
    await save(page, 2);
    const copy = (from: string, to: string) =>
      admin('POST', `${page}/copies`, { from_variant_key: from, new_variant_key: to, new_variant_name: 'New' });
    expect((await copy('', 'B')).data).toMatchObject({ variant_key: 'b', variant_name: 'New', is_published: false });
    expect(JSON.parse((await admin('GET', `${page}?variant=b`)).data.components)).toEqual(spacer(2));
    expect((await copy('b', ' B ')).code).toBe(500);
    expect((await copy('b', 'default')).message).toBe('Variant default exists already');
    expect((await copy('gone', 'c')).code).toBe(404);
  });

  test('the default variant and the published one cannot be deleted, in both languages', async () => {
    const page = newPage();
    await save(page, 1);
    await save(page, 2, 'live');
    await publish(page, 'live');
    await save(page, 3, 'old');
    const remove = (variant: string, lang?: string) => admin('DELETE', `${page}/variants/${variant}`, undefined, lang);
    expect((await remove('default')).message).toBe('The default variant cannot be deleted');
    expect((await remove('default', 'zh-CN')).message).toBe('默认版本不能删除');
    expect((await remove('live')).message).toBe('The published variant cannot be deleted');
    expect([(await remove('old')).code, (await remove('old')).code]).toEqual([0, 404]);
  });

  test('a row that a client sends back whole is saved as it is', async () => {
    const page = newPage();
    await save(page, 7);
    const { data } = await admin('GET', page);
    await admin('PUT', `${page}?variant=`, data);
    expect((await admin('GET', page)).data.components).toBe(data.components);
  });

  test('pages and variants have a maximum number', async () => {
    const page = newPage();
    await Promise.all(Array.from({ length: 30 }, (_, i) => save(page, 1, `v${i}`)));
    expect((await save(page, 1, 'more')).code).toBe(409);
    expect((await save(page, 2, 'v3')).code).toBe(0);
    const { sql } = shop.database;
    await sql`insert into content.decor_pages (page_key) select 'filler' || n from generate_series(1, 50) n`;
    expect((await save('one-more', 1)).message).toBe('There are 50 pages already');
    expect((await save(page, 3, 'v3')).code).toBe(0);
    await sql`delete from content.decor_pages where page_key like 'filler%'`;
  });

  test('reading needs decor:view and writing decor:edit', async () => {
    const viewer = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['decor:view'] });
    const as = async (method: string, path: string, body?: unknown) =>
      (await shop.call(method, `/admin/api/decor/${path}`, { token: viewer, body })).code;
    expect(await as('GET', 'index')).toBe(0);
    const menus = await shop.call('GET', '/admin/api/menus', { token: viewer });
    expect(JSON.stringify(menus.data)).toMatch(/"\/decor\/index".*"\/decor\/pc"/);
    expect([await as('PUT', 'index', { components: [] }), await as('POST', 'index/publish')]).toEqual([403, 403]);
    const shopper = await shop.shopper();
    expect((await shop.call('GET', '/admin/api/decor/index', { token: shopper.token })).code).toBe(403);
  });
});

describe('publications', () => {
  const publications = async (page: string) => (await admin('GET', `${page}/publications`)).data;
  const rollBack = (page: string, id: number) => admin('POST', `${page}/publications/${id}/rollback`);

  test('a rollback shows the earlier content again and keeps the draft', async () => {
    const page = newPage();
    for (const height of [1, 2]) {
      await save(page, height);
      await publish(page);
    }
    await save(page, 3);
    const [second, first] = (await publications(page)).list;
    expect([second.is_live, first.is_live, second.published_by_id]).toEqual([true, false, 1]);
    expect((await rollBack(page, first.id)).data).toMatchObject({ is_published: true, has_changes: true });
    expect(await shownHeight(page)).toBe(1);
    expect(JSON.parse((await admin('GET', page)).data.components)).toEqual(spacer(3));
    const { list, total } = await publications(page);
    expect([total, list[0].rolled_back_to, list[0].is_live]).toEqual([3, first.id, true]);
  });

  test('a rollback brings a deleted variant back, and one of another page is refused', async () => {
    const page = newPage();
    await save(page, 1, 'old');
    await publish(page, 'old');
    await save(page, 2, 'new');
    await publish(page, 'new');
    expect((await admin('DELETE', `${page}/variants/old`)).code).toBe(0);
    const { list } = await publications(page);
    expect((await rollBack(newPage(), list[1].id)).code).toBe(404);
    expect((await rollBack(page, list[1].id)).data).toMatchObject({ variant_key: 'old', is_published: true });
    expect(await shownHeight(page)).toBe(1);
  });

  test('rollbacks and publications at once leave one live variant', async () => {
    const page = newPage();
    await save(page, 1, 'a');
    await save(page, 2, 'b');
    await publish(page, 'a');
    await publish(page, 'b');
    const { list } = await publications(page);
    await Promise.all([
      ...list.map(({ id }: { id: number }) => rollBack(page, id)),
      publish(page, 'a'),
      publish(page, 'b'),
    ]);
    const live = (await publications(page)).list.filter((row: { is_live: boolean }) => row.is_live);
    expect(live).toHaveLength(1);
  });

  test('the newest hundred are kept, and those that a variant shows', async () => {
    const page = newPage();
    await save(page, 1, 'rare');
    await publish(page, 'rare');
    await save(page, 2);
    for (let i = 0; i < 102; i++) await publish(page);
    const { total } = await publications(page);
    expect(total).toBe(101);
    expect(await shownHeight(`${page}?variant=rare`)).toBe(1);
  });
});

test('large lists of variants are made one after the other, and too many of them are answered with 503', async () => {
  const page = newPage();
  const components = [{ type: 'text', props: { list: Array.from({ length: 4_000 }, () => ({ a: 'x'.repeat(40) })) } }];
  for (let n = 0; n < 5; n += 1) await admin('PUT', `${page}?variant=v${n}`, { components });
  const answers = await Promise.all(Array.from({ length: 50 }, () => admin('GET', `${page}/variants`)));
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect((await admin('GET', `${page}/variants`)).data).toHaveLength(5);
});
