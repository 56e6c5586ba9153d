import { type DoctorCheck, developmentArea } from '@tradepost/module';
import type { Setting } from '@tradepost/runtime';

/**
 * Finds an address of a payment service that is not one of `origins`, such as that of a simulator. `service` is its name in
 * texts. An empty setting is the address of the service.
 */
export const paymentEndpointCheck = (
  service: string,
  endpoint: Setting<string>,
  origins: readonly string[],
): DoctorCheck => ({
  name: `address of ${service}`,
  area: developmentArea,
  check({ settings }, { error }) {
    const address = settings.get(endpoint);
    if (address === '') return;
    const { origin } = new URL(address);
    if (!origins.includes(origin))
      error(
        'development/payment-endpoint',
        `${endpoint.key} is ${origin}, which is not ${service}: that server decides which orders are paid`,
        `tradepost settings unset ${endpoint.key}`,
      );
  },
});
