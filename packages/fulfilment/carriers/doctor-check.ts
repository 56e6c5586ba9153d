import { type DoctorCheck, developmentArea, isLoopback } from '@tradepost/module';
import { openCarrierRouter } from './carrier-router.ts';
import { type CarrierDriver, missingAccount } from './drivers/driver.ts';
import { pollingEnabled, primaryDriver, routerEnabled, secondaryDriver } from './settings.ts';

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
    const names = ready.map(({ name }) => name).join(' and ');
    if (ready.length === 0) {
      if (polls) error('carriers/not-set-up', `polling is on, and not set: ${missing.join(', ')}`, todo);
    } else if (missing.length > 0)
      warning(
        'carriers/one-not-set-up',
        `only ${names} is queried; the other chosen carrier service lacks ${missing.join(', ')}`,
        `${todo}; or, for one service only: tradepost settings set ${primaryDriver.key} ${names}; tradepost settings set ${secondaryDriver.key} '""'`,
      );
    else ok(`carrier services in use: ${names}; polling is ${polls ? 'on' : 'off'}`);
  },
});

/** A simulated carrier service, such as that of a demo shop. */
export const developmentCarrierCheck = (drivers: readonly CarrierDriver[]): DoctorCheck => ({
  name: 'simulated carriers',
  area: developmentArea,
  check({ settings }, { error }) {
    for (const { apiUrl } of drivers) {
      const address = settings.get(apiUrl);
      if (address !== '' && isLoopback(new URL(address).hostname))
        error(
          'development/simulated-carrier',
          `${apiUrl.key} is ${address}, which is on this machine: shipments show simulated tracks`,
          `tradepost settings unset ${apiUrl.key}, and set the account of the service`,
        );
    }
  },
});
