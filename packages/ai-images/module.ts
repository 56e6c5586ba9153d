import type { Module } from '@tradepost/module';
import { fileReferences, uploadsService } from '@tradepost/storage';
import { aiImageAudits } from './ai-image-audits.ts';
import { aiImageMetrics } from './ai-image-metrics.ts';
import { modelDoctorCheck } from './doctor-checks.ts';
import { imageDrivers } from './drivers/driver.ts';
import { hunyuanDriver } from './drivers/hunyuan-driver.ts';
import { openaiDriver } from './drivers/openai-driver.ts';
import { openServiceNetwork } from './drivers/service-network.ts';
import { tongyiDriver } from './drivers/tongyi-driver.ts';
import { wenxinDriver } from './drivers/wenxin-driver.ts';
import { aiImageFiles } from './file-references.ts';
import { aiImageMenu } from './menu.ts';
import { modelRoutes } from './models/model-routes.ts';
import { aiImageRetention, aiImageRetentionSettings } from './retention.ts';
import { aiImageSettings } from './settings.ts';
import { aiImageSealed, aiImagesInChangeLog, aiImageTables } from './tables.ts';
import { imageJobs } from './tasks/generate-job.ts';
import { watchTask } from './tasks/task-jobs.ts';
import { taskRoutes } from './tasks/task-routes.ts';

export const aiImagesModule: Module = {
  name: 'ai-images',
  needs: ['storage', 'identity'],
  tables: aiImageTables,
  changeLog: aiImagesInChangeLog,
  sealed: aiImageSealed,
  entries: [
    fileReferences.add(aiImageFiles),
    ...[openaiDriver, wenxinDriver, tongyiDriver, hunyuanDriver].map((driver) => imageDrivers.add(driver)),
  ],
  settings: [...aiImageSettings, ...aiImageRetentionSettings],
  menu: aiImageMenu,
  audits: aiImageAudits,
  retention: aiImageRetention,
  metrics: aiImageMetrics,
  declares: (entries) => ({ doctorChecks: [modelDoctorCheck(entries(imageDrivers))] }),
  open(context) {
    const { runtime } = context;
    const network = openServiceNetwork(runtime.config.allowedPrivateNetworks);
    const deps = {
      ...{ runtime, network, guard: network.guard, drivers: context.entries(imageDrivers) },
      uploads: context.service(uploadsService),
      metrics: aiImageMetrics(runtime.metrics),
    };
    return {
      routes: () => [...modelRoutes(deps), ...taskRoutes(deps)],
      tasks: imageJobs(deps),
      crons: [{ task: watchTask, match: '* * * * *' }],
      close: () => network.close(),
    };
  },
};
