import { defineRoute, idParams, nothing, type Route } from '@tradepost/http';
import { z } from 'zod';
import { aiImageErrors } from '../errors.ts';
import { modelChangeBody, modelList, modelView, newModelBody } from './model-schemas.ts';
import { selectModels } from './model-store.ts';
import { viewOfModel } from './model-view.ts';
import { addModel, changeModel, type ModelDeps, removeModels } from './save-models.ts';

const tag = 'AI images (admin)';
const { endpoint_address, endpoint_private, endpoint_without_key, default_disabled, too_many_models, model_not_found } =
  aiImageErrors;
const staff = { auth: 'staff', tag } as const;
/** The first secret of a shop also creates its key. */
const firstSecret = 5;

export const modelRoutes = (deps: ModelDeps): Route[] => [
  defineRoute({
    ...staff,
    method: 'GET',
    path: '/admin/api/ai/models',
    permission: 'ai:view',
    summary: 'Image models: the default one first',
    query: z.object({
      all: z
        .boolean()
        .optional()
        .meta({ description: 'also the disabled ones', examples: [true] }),
    }),
    response: modelList,
    statements: 1,
    handle: async ({ query }) => (await selectModels(deps.runtime.sql, { all: query.all === true })).map(viewOfModel),
  }),
  defineRoute({
    ...staff,
    method: 'POST',
    path: '/admin/api/ai/models',
    permission: 'ai:config',
    summary: 'Add an image model. The first one becomes the default',
    body: newModelBody(deps.drivers),
    response: modelView,
    refuses: [endpoint_address, endpoint_private, default_disabled, too_many_models],
    repeat: 'recorded',
    statements: 5 + firstSecret,
    handle: async ({ body, write }) => addModel(deps, body, write),
  }),
  defineRoute({
    ...staff,
    method: 'PUT',
    path: '/admin/api/ai/models/:id',
    permission: 'ai:config',
    summary: 'Change an image model: the fields that the body has',
    description: 'When the endpoint or the driver changes, the key must be sent again.',
    params: idParams,
    body: modelChangeBody(deps.drivers),
    response: nothing,
    refuses: [endpoint_address, endpoint_private, endpoint_without_key, default_disabled, model_not_found],
    repeat: 'recorded',
    statements: 4 + firstSecret,
    async handle({ params, body, write }) {
      await changeModel(deps, params.id, body, write);
      return null;
    },
  }),
  defineRoute({
    ...staff,
    method: 'DELETE',
    path: '/admin/api/ai/models/:id',
    permission: 'ai:config',
    summary: 'Remove an image model. Its running tasks fail',
    params: idParams,
    response: nothing,
    refuses: [model_not_found],
    repeat: 'recorded',
    statements: 1,
    async handle({ params, write }) {
      await write((tx) => removeModels(tx, [params.id]));
      return null;
    },
  }),
];
