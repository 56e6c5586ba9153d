import type { TestData } from '@tradepost/testing/test-data';

/** A default model and another one; a task that is done, one that runs and one that has failed. */
const rows = `
  insert into ai_images.models (id, name, driver, endpoint, is_default) overriding system value
    values (1, 'Photos', 'openai', 'https://images.example.com/v1', true),
           (2, 'Drawings', 'openai', 'https://images.example.com/v1', false);
  insert into ai_images.tasks (id, model_id, model_name, staff_id, scene, biz_type, prompt, params, status, result_urls,
      failure, deadline_at, finished_at) overriding system value
    values (1, 1, 'Photos', 1, 'detail', 'detail', 'a mug', '{"width":750,"height":750,"count":1}', 2,
            '["/uploads/2026/11/1795468397123456789_0123456789ab.png"]', null, now(), now()),
           (2, 1, 'Photos', 1, 'detail', 'detail', 'a mug', '{"width":750,"height":750,"count":1}', 1, null, null,
            now() + interval '1 hour', null),
           (3, 1, 'Photos', 1, 'detail', 'detail', 'a mug', '{"width":750,"height":750,"count":1}', 3, null,
            '{"name":"refused","values":{"reason":"no"}}', now(), now());`;

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'ai_images.deadlines',
      'a task that runs for ever',
      `update ai_images.tasks set deadline_at = now() - interval '2 hours' where id = 2`,
    ],
    [
      'ai_images.default_model',
      'two default models',
      `drop index ai_images.models_default; update ai_images.models set is_default = true`,
    ],
    [
      'ai_images.default_model',
      'a default model that is disabled',
      `update ai_images.models set status = 0 where id = 1`,
    ],
  ],
  makers: {
    // The host has no address, so tests of routes send it nothing.
    models: ({ send, staff, nextNumber, repeat }, count) =>
      repeat(count, async () => {
        const body = { name: `Model ${nextNumber()}`, driver: 'openai', endpoint: 'https://images.invalid/v1' };
        return (await send('POST', '/admin/api/ai/models', staff, body)).id;
      }),
    '/admin/api/ai/tasks': async ({ sql }, count) => {
      const rows = await sql<{ id: number }[]>`
        insert into ai_images.tasks (model_id, model_name, staff_id, scene, biz_type, prompt, params, status, failure,
          deadline_at, finished_at)
        select 1, 'Photos', 1, 'detail', 'detail', 'a mug', '{"width":750,"height":750,"count":1}', 3,
          '{"name":"refused","values":{"reason":"no"}}', now(), now()
        from generate_series(1, ${count}) returning id`;
      return rows.map(({ id }) => id);
    },
    target_products: ({ make }, count, options) => make('products', count, options),
  },
};
