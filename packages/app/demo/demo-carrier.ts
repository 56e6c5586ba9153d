import { type CarrierSimulator, demoAccounts, openCarrierSimulator } from '@tradepost/carrier-simulator';
import { demoShop, type Runtime } from '@tradepost/runtime';

const keys = {
  apiUrl: 'logistics_kuaidi100.api_url',
  customer: 'logistics_kuaidi100.customer',
  key: 'logistics_kuaidi100.key',
} as const;

/** The simulators that this process runs. */
const running = new WeakMap<Runtime, CarrierSimulator>();

/**
 * Lets a demo shop query a simulated carrier service in this process, so that shipments have tracks without an account.
 * A shop that is not a demo shop, or whose operator has set an account, queries the real services.
 */
export async function startDemoCarrier(runtime: Runtime): Promise<void> {
  const { settings } = runtime;
  if (!settings.get(demoShop)) return;
  const { customer, key } = demoAccounts.kuaidi100;
  const rows = settings.list().filter((row) => Object.values<string>(keys).includes(row.key));
  const account = rows.find((row) => row.key === keys.customer);
  if (!account || rows.some((row) => row.source === 'file')) return;
  if (account.value !== '' && account.value !== customer) return;
  const simulator = await openCarrierSimulator();
  running.set(runtime, simulator);
  const values = { [keys.apiUrl]: simulator.apiUrl('kuaidi100'), [keys.customer]: customer, [keys.key]: key };
  await settings.setMany(values, { by: 'demo' });
}

export async function stopDemoCarrier(runtime: Runtime): Promise<void> {
  await running.get(runtime)?.close();
}
