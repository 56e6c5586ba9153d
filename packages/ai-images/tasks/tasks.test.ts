import { runAudits } from '@tradepost/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aiImageAudits } from '../ai-image-audits.ts';
import { type ImageShop, openImageShop } from '../testing/image-shop.ts';

let images: ImageShop;
beforeAll(async () => {
  images = await openImageShop();
  await images.addModel();
});
afterAll(() => images?.close());
beforeEach(async () => {
  await images.sql`delete from ai_images.tasks`;
  await images.sql`delete from storage.files`;
  await images.sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs`;
});

const files = () => images.sql<{ state: string }[]>`select state from storage.files`;
/** A task after one run of its job. */
async function runOnce(fields: Record<string, unknown> = {}) {
  const { id } = (await images.generate(fields)).data;
  await images.run(id);
  return images.task(id);
}

test('the page generates, polls until the task is done, and loads the pictures', async () => {
  const body = {
    scene: 'carousel',
    biz_type: 'cover',
    target_product_id: 7,
    ref_image_url: '',
    prompt: '  白色搪瓷杯  ',
    neg_prompt: '文字',
    params: { width: 750, height: 1000, count: 2, style: 'ecommerce' },
  };
  const { code, data: task } = await images.call('POST', '/generate', body);
  expect(code).toBe(0);
  expect(task).toMatchObject({
    status: 1,
    result_urls: null,
    error_msg: '',
    prompt: '白色搪瓷杯',
    target_product_id: 7,
  });
  expect(await images.task(task.id)).toMatchObject({ status: 1, result_urls: null });
  await images.run(task.id);
  const done = await images.task(task.id);
  expect(done).toMatchObject({ ...task, status: 2, result_urls: expect.any(String), finished_at: expect.any(String) });
  const urls = JSON.parse(done.result_urls);
  expect(urls).toHaveLength(2);
  for (const url of urls) {
    const response = await fetch(url);
    const bytes = Buffer.from(await response.arrayBuffer());
    // The nearest size that the model draws.
    expect([response.headers.get('content-type'), bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([
      ...['image/png', 1024, 1536],
    ]);
  }
  const { data: page } = await images.call('GET', '/tasks?page=1&size=20');
  expect(page).toEqual({ list: [done], total: 1, page: 1, size: 20 });
  expect(images.simulator.orders().at(-1)!.prompt).toMatch(/搪瓷杯[\s\S]*Style[\s\S]*Avoid: 文字/);
});

describe('a task', () => {
  test('is refused with the name of the field or of the limit', async () => {
    const refused = async (fields: Record<string, unknown>) => (await images.generate(fields)).message;
    expect(await refused({ prompt: ' ' })).toContain('prompt');
    expect(await refused({ prompt: 'x'.repeat(4_001) })).toContain('prompt');
    expect(await refused({ params: { count: 11 } })).toContain('count');
    expect(await refused({ params: { width: 10_000 } })).toContain('width');
    expect(await refused({ params: { style: 'cubism' } })).toContain('style');
    expect(await refused({ model_id: 999 })).toBe('AI model not found');
    expect(await refused({ ref_image_url: 'https://8.8.8.8/a.png' })).toMatch(/Photos takes no reference image/);
    for (const address of ['ftp://8.8.8.8/a.png', 'http://10.0.0.1/a.png', 'http://u:p@8.8.8.8/', '/etc/passwd'])
      expect([address, await refused({ ref_image_url: address })]).toEqual([
        address,
        expect.stringContaining('ref_image_url'),
      ]);
    expect((await images.generate({ params: { style: '' }, ref_image_url: '', neg_prompt: null })).code).toBe(0);
  });

  test('is refused beyond the limits of tasks that run, also when all come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 9 }, () => images.generate()));
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(5);
    expect(answers.filter(({ code }) => code === 429).map(({ message }) => message)).toEqual(
      Array(4).fill(expect.stringContaining('At most 5 of your AI image tasks')),
    );
    await images.sql`update ai_images.tasks set staff_id = 99`;
    await images.shop.server.runtime.settings.set('ai_images.running', 5);
    expect((await images.generate()).message).toContain('At most 5 AI image tasks of the shop');
    await images.shop.server.runtime.settings.unset('ai_images.running');
  });

  test.each([
    ['policy', 'The service refused the request: 400 the prompt was refused by the safety system'],
    ['redirect', 'The answer of the service cannot be used: it is a redirect'],
    ['not_image', expect.stringContaining('The pictures were not stored: file: its content has no allowed type')],
    ['private_url', 'The service refused the request: the host has a private or reserved address'],
    ['huge', 'The answer of the service cannot be used: it is too large'],
  ] as const)('fails at once after %s', async (fault, error_msg) => {
    images.simulator.plan(fault);
    expect(await runOnce()).toMatchObject({ status: 3, result_urls: null, error_msg });
    expect(await files()).toEqual([]);
  });

  test.each(['rate_limit', 'error', 'broken', 'empty'] as const)('is repeated after %s, then done', async (fault) => {
    images.simulator.plan(fault, null);
    const task = await runOnce();
    expect(task).toMatchObject({ status: 1, error_msg: '' });
    const [job] = await images.jobs();
    expect(job!.run_at.getTime()).toBeGreaterThan(Date.now() + 3_000);
    await images.run(task.id);
    expect(await images.task(task.id)).toMatchObject({ status: 2 });
  });

  test('fails with the reason after its last attempt, in the language of the reader', async () => {
    images.simulator.plan('error', 'error', 'error');
    const { id } = await runOnce();
    await images.run(id);
    await images.run(id);
    expect(await images.task(id)).toMatchObject({
      status: 3,
      error_msg: 'The service did not do it: 500 simulated fault',
    });
    expect((await images.task(id, 'zh-CN')).error_msg).toBe('服务未能完成：500 simulated fault');
    await images.run(id);
    expect(images.simulator.counters().faults.error).toBeGreaterThanOrEqual(3);
    expect(await images.task(id)).toMatchObject({ status: 3 });
  });
});

test.each(['openai', 'wenxin'])(
  'the driver %s sends a reference image: an upload, or one at an address',
  async (driver) => {
    const { id: model_id } = await images.addModel({ name: driver, driver, supports_ref_image: 1 });
    images.simulator.change({ answers: 'url' });
    const first = await runOnce({ model_id });
    const [upload] = JSON.parse(first.result_urls);
    const other = await runOnce({ model_id, ref_image_url: upload, params: { count: 5 } });
    expect(other).toMatchObject({ status: 2, ref_image_url: upload });
    expect(images.simulator.orders().at(-1)).toMatchObject({ hasImage: true });
    expect(JSON.parse(other.result_urls)).toHaveLength(5);
    const address = `${images.simulator.url}/files/${images.simulator.counters().pictures}.png`;
    expect(await runOnce({ model_id, ref_image_url: address })).toMatchObject({ status: 2, ref_image_url: address });
    expect(await runOnce({ model_id, ref_image_url: `${images.simulator.url}/none.png` })).toMatchObject({
      status: 1,
      error_msg: '',
    });
    images.simulator.change({ answers: 'b64_json' });
  },
);

test.each(['tongyi', 'hunyuan'])('the driver %s waits for the task of its service', async (driver) => {
  const { endpoint, key } = images.simulator.models[driver]!;
  const { id: model_id } = await images.addModel({ name: driver, driver, endpoint, api_key: key });
  expect(await runOnce({ model_id })).toMatchObject({ status: 2, result_urls: expect.stringContaining('.png') });
  images.simulator.plan('policy');
  expect(await runOnce({ model_id })).toMatchObject({
    status: 3,
    error_msg: expect.stringMatching(/inappropriate|illegal/),
  });
});

test('a key never appears in the reason, although the service quotes it', async () => {
  const key = 'sk-planted-secret-0123456789';
  const { id: model_id } = await images.addModel({ name: 'Wrong key', api_key: key });
  const task = await runOnce({ model_id });
  expect(task.error_msg).toMatch(/^The service refused the request: 401 Incorrect API key/);
  const rows = await images.sql<{ text: string }[]>`
    select to_jsonb(t)::text as text from ai_images.tasks t union all select to_jsonb(m)::text from ai_images.models m`;
  expect(JSON.stringify([task, rows])).not.toContain('planted-secret');
  expect((await images.call('GET', '/models?all=true')).data.every((m: object) => !('api_key' in m))).toBe(true);
  await images.call('DELETE', `/models/${model_id}`);
});

describe('a job that is interrupted', () => {
  test('by a kill before the end of the task runs again, and the pictures are not doubled', async () => {
    const { id } = (await images.generate({ params: { count: 2 } })).data;
    images.simulator.change({ latencyMs: 300 });
    // The worker of the first run counts as ended, so that a second one runs at the same time.
    await Promise.all([images.run(id), images.run(id)]);
    images.simulator.change({ latencyMs: 0 });
    expect(JSON.parse((await images.task(id)).result_urls)).toHaveLength(2);
    expect(await files()).toEqual([{ state: 'stored' }, { state: 'stored' }]);
  });

  test('by the stop of the worker stays a job', async () => {
    const { id } = (await images.generate()).data;
    images.simulator.plan('hang');
    await expect(images.run(id, AbortSignal.timeout(200))).rejects.toThrow();
    expect(await images.task(id)).toMatchObject({ status: 1 });
    await images.run(id);
    expect(await images.task(id)).toMatchObject({ status: 2 });
  });

  test('again and again fails', async () => {
    const { id } = (await images.generate()).data;
    await images.sql`update ai_images.tasks set attempts = 3`;
    await images.run(id);
    expect(await images.task(id)).toMatchObject({ status: 3, error_msg: 'It was interrupted 3 times' });
  });

  test('and lost is enqueued again, and a task beyond its deadline fails', async () => {
    const { id } = (await images.generate()).data;
    const late = (await images.generate()).data.id;
    await images.sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs`;
    await images.sql`update ai_images.tasks set deadline_at = now() - interval '2 hours' where id = ${late}`;
    expect((await runAudits(images.sql, aiImageAudits)).map(({ rows }) => rows.length)).toEqual([1, 0]);
    await images.watch();
    expect((await images.jobs()).map(({ key }) => key)).toEqual([`ai_images.generate:${id}`]);
    expect(await images.task(late)).toMatchObject({ status: 3, error_msg: expect.stringContaining('not done within') });
    await images.watch();
    expect(await images.jobs()).toHaveLength(1);
  });
});
