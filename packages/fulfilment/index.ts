export { type CarrierAnswer, type CarrierDriver, type CarrierNode, carriers } from './carriers/drivers/driver.ts';
export { kdniaoSign } from './carriers/drivers/kdniao.ts';
export { kuaidi100Sign } from './carriers/drivers/kuaidi100.ts';
export { fulfilmentModule } from './module.ts';
