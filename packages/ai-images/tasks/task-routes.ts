import { isoInZone, type Locale, paged, pagingOf } from '@tradepost/core';
import { defineRoute, fileUrls, idParams, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import type { z } from 'zod';
import { aiImageErrors, taskFailures } from '../errors.ts';
import { maxTaskPage } from '../limits.ts';
import { type CreateDeps, checkRefImage, createTask } from './create-tasks.ts';
import { generateBody, taskPage, taskQuery, taskView } from './task-schemas.ts';
import { type ImageTask, selectTask, selectTasks } from './task-store.ts';

const tag = 'AI images (admin)';
const { no_default_model, model_not_found, model_disabled, no_ref_image, ref_image_unknown } = aiImageErrors;
const { too_many_of_staff, too_many_tasks, task_not_found } = aiImageErrors;

type RouteDeps = CreateDeps & { readonly runtime: Pick<Runtime, 'sql' | 'settings' | 'config'> };
type Reader = { request: Request; locale: Locale };

export function taskRoutes(deps: RouteDeps): Route[] {
  const { sql, settings, config } = deps.runtime;
  const viewOf = (task: ImageTask, { request, locale }: Reader): z.input<typeof taskView> => {
    const { absolute } = fileUrls(request, config);
    const { result_urls, failure, created_at, finished_at } = task;
    const { id, model_id, model_name, staff_id, scene, biz_type, target_product_id, prompt, neg_prompt, params } = task;
    const zone = settings.get(timeZone);
    return {
      ...{ id, model_id, model_name, staff_id, scene, biz_type, target_product_id, prompt, neg_prompt, params },
      status: task.status,
      ref_image_url: absolute(task.ref_image_url),
      // The console parses a text.
      result_urls: result_urls && JSON.stringify(result_urls.map(absolute)),
      error_msg: failure ? taskFailures[failure.name](failure.values).messageIn(locale) : '',
      created_at: isoInZone(created_at, zone),
      finished_at: finished_at && isoInZone(finished_at, zone),
    };
  };
  const staff = { auth: 'staff', tag } as const;
  return [
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/ai/generate',
      permission: 'ai:generate',
      summary: 'Create an image task. Its pictures are made by a job',
      description:
        'The answer is the task with status 1. Poll `GET /admin/api/ai/tasks/:id` until its status is 2 (done) or 3 (failed).',
      body: generateBody,
      response: taskView,
      refuses: [
        ...[no_default_model, model_not_found, model_disabled, no_ref_image, ref_image_unknown],
        ...[too_many_of_staff, too_many_tasks],
      ],
      repeat: 'recorded',
      // The reference image, the model, the lock, the count, the task, its job; the task again.
      statements: 7,
      async handle({ body, caller, request, locale, write }) {
        const given = { ...body, ref_image_url: fileUrls(request, config).relative(body.ref_image_url) };
        await checkRefImage(deps, given.ref_image_url);
        const id = await write(async (tx) => (await createTask(tx, deps, caller.id, given)).id);
        return viewOf((await selectTask(sql, id))!, { request, locale });
      },
    }),
    defineRoute({
      ...staff,
      method: 'GET',
      path: '/admin/api/ai/tasks',
      permission: 'ai:view',
      summary: 'Image tasks, newest first',
      query: taskQuery,
      response: taskPage,
      statements: 1,
      async handle({ query, request, locale }) {
        const paging = pagingOf(query, { cap: maxTaskPage });
        const { rows, total } = await selectTasks(sql, paging);
        return paged(
          rows.map((row) => viewOf(row, { request, locale })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...staff,
      method: 'GET',
      path: '/admin/api/ai/tasks/:id',
      permission: 'ai:view',
      summary: 'One image task',
      params: idParams,
      response: taskView,
      refuses: [task_not_found],
      statements: 1,
      async handle({ params, request, locale }) {
        const task = await selectTask(sql, params.id);
        if (!task) throw task_not_found();
        return viewOf(task, { request, locale });
      },
    }),
  ];
}
