import { activityKinds, activityRoutes } from '@tradepost/activities';
import type { Module } from '@tradepost/module';
import { seckillMenu } from './menu.ts';
import { seckillKind } from './seckill-kind.ts';
import { seckillDemo } from './seed-demo.ts';

export const seckillModule: Module = {
  name: 'seckill',
  needs: ['activities'],
  entries: [activityKinds.add(seckillKind)],
  menu: seckillMenu,
  seedDemo: seckillDemo,
  open: ({ runtime }) => ({
    routes: () => activityRoutes(runtime, seckillKind),
  }),
};
