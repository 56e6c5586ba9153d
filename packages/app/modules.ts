import { activitiesModule } from '@tradepost/activities';
import { aiImagesModule } from '@tradepost/ai-images';
import { alipayModule } from '@tradepost/alipay';
import { analyticsModule } from '@tradepost/analytics';
import { backofficeModule } from '@tradepost/backoffice';
import { backupModule } from '@tradepost/backup';
import { bargainModule } from '@tradepost/bargain';
import { carrierSimulatorModule } from '@tradepost/carrier-simulator';
import { catalogModule } from '@tradepost/catalog';
import { changeLogModule } from '@tradepost/change-log';
import { checkinModule } from '@tradepost/checkin';
import { contentModule } from '@tradepost/content';
import { distributionModule } from '@tradepost/distribution';
import { externalWmsModule } from '@tradepost/external-wms';
import { fulfilmentModule } from '@tradepost/fulfilment';
import { gatewayModule } from '@tradepost/gateway';
import { groupBuyModule } from '@tradepost/group-buy';
import { identityModule } from '@tradepost/identity';
import { imageSimulatorModule } from '@tradepost/image-simulator';
import { inventoryModule } from '@tradepost/inventory';
import { marketingModule } from '@tradepost/marketing';
import { messageCentreModule } from '@tradepost/message-centre';
import { chooseModules, declaredBy, type Module } from '@tradepost/module';
import { ordersModule } from '@tradepost/orders';
import { paymentSimulatorModule } from '@tradepost/payment-simulator';
import { pointsModule } from '@tradepost/points';
import { pointsMallModule } from '@tradepost/points-mall';
import { reviewsModule } from '@tradepost/reviews';
import type { Audit, Config, RetentionRule, Setting } from '@tradepost/runtime';
import { seckillModule } from '@tradepost/seckill';
import { storageModule } from '@tradepost/storage';
import { stripeModule } from '@tradepost/stripe';
import { vipModule } from '@tradepost/vip';
import { warehouseSimulatorModule } from '@tradepost/warehouse-simulator';
import { webhooksModule } from '@tradepost/webhooks';
import { wechatPayModule } from '@tradepost/wechat-pay';
import { demoModule } from './demo-module.ts';
import { runtimeModule } from './runtime-module.ts';

/** The list of modules of the shop. A module comes after the modules that it needs. */
export const modules: readonly Module[] = [
  runtimeModule,
  demoModule,
  storageModule,
  backupModule,
  identityModule,
  changeLogModule,
  catalogModule,
  inventoryModule,
  externalWmsModule,
  ordersModule,
  wechatPayModule,
  alipayModule,
  stripeModule,
  fulfilmentModule,
  reviewsModule,
  // Before coupons and points: readers of events lock in this order, as orders do.
  activitiesModule,
  seckillModule,
  groupBuyModule,
  bargainModule,
  marketingModule,
  vipModule,
  pointsModule,
  checkinModule,
  pointsMallModule,
  distributionModule,
  contentModule,
  messageCentreModule,
  analyticsModule,
  carrierSimulatorModule,
  aiImagesModule,
  imageSimulatorModule,
  webhooksModule,
  gatewayModule,
  backofficeModule,
  warehouseSimulatorModule,
  paymentSimulatorModule,
];

/** The modules that this configuration runs. Throws ConfigError when a required module is missing. */
export const modulesOf = (config: Pick<Config, 'modules'>): readonly Module[] =>
  chooseModules(modules, config.modules ?? null);

/** The settings of the modules that this configuration runs. */
export const settingsOf = (config: Pick<Config, 'modules'>): readonly Setting[] =>
  declaredBy(modulesOf(config), 'settings', modules);

/** Settings of all modules. The settings of the runtime package are not in this list; every shop has them. */
export const settings: readonly Setting[] = declaredBy(modules, 'settings');
/** Invariants of all modules. */
export const audits: readonly Audit[] = declaredBy(modules, 'audits');
/** Retention rules of all modules: the rows that are deleted when they are old. */
export const retention: readonly RetentionRule[] = declaredBy(modules, 'retention');
