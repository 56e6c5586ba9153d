import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const tasksDays = retentionDays('ai_image_tasks', 180, 'AI image tasks that have ended');
export const aiImageRetentionSettings = [tasksDays] as const;

export const aiImageRetention: readonly RetentionRule[] = [
  {
    name: 'ai_image_tasks',
    about: 'ended AI image tasks; their pictures stay as long as something else refers to them',
    table: 'ai_images.tasks',
    age: 't.finished_at',
    where: (sql) => sql`t.status <> 1`,
    days: tasksDays,
  },
];
