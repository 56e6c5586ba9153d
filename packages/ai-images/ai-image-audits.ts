import type { Audit } from '@tradepost/runtime';

export const aiImageAudits: readonly Audit[] = [
  {
    name: 'ai_images.deadlines',
    about: 'no image task runs long after its deadline',
    pendingWork: true,
    query: (sql, now) => sql`
      select id as task_id, attempts, deadline_at from ai_images.tasks
      where status = 1 and deadline_at < ${now} - interval '1 hour'`,
  },
  {
    name: 'ai_images.default_model',
    about: 'at most one image model is the default, and it is enabled',
    query: (sql) => sql`
      select id as model_id, name, status from ai_images.models
      where is_default and (status = 0 or (select count(*) from ai_images.models d where d.is_default) > 1)`,
  },
];
