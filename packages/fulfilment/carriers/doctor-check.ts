import type { DoctorCheck } from '@tradepost/module';
import { openCarrierRouter } from './carrier-router.ts';
import { type CarrierDriver, missingAccount } from './drivers/driver.ts';
import { pollingEnabled, routerEnabled } from './settings.ts';

/**
 * Checks that the drivers that the router would ask have what they declare: an address and an account. A shop that tracks no
 * shipments needs none.
 */
export const carrierDoctorCheck = (drivers: readonly CarrierDriver[]): DoctorCheck => ({
  name: 'carriers',
  area: { name: 'carriers', sort: 55 },
  check({ settings }, { ok, warning, error }) {
    if (!settings.get(routerEnabled)) return;
    const router = openCarrierRouter(settings, drivers);
    const polls = settings.get(pollingEnabled);
    const chosen = router.chosen();
    const ready = chosen.filter((driver) => missingAccount(driver, settings).length === 0);
    const missing = chosen.flatMap((driver) => missingAccount(driver, settings));
    const todo = missing.map((key) => `tradepost settings set ${key}`).join('; ');
    if (ready.length === 0) {
      if (polls) error(`polling is on, and not set: ${missing.join(', ')}`, todo);
    } else if (missing.length > 0) warning(`one of the chosen carrier services lacks ${missing.join(', ')}`, todo);
    else ok(`accounts are set: ${ready.map(({ name }) => name).join(', ')}; polling is ${polls ? 'on' : 'off'}`);
  },
});
