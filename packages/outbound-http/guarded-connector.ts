import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressGuard, hostOf, RefusedAddressError } from './address-guard.ts';

/**
 * The `connect` option of an undici pool or agent. It resolves a host once, checks its addresses, and connects to these
 * addresses, so a name server that answers differently the second time (DNS rebinding) gains nothing.
 */
export function guardedConnector(guard: AddressGuard, options: { connectMs: number }): buildConnector.connector {
  const connect = buildConnector({ timeout: options.connectMs, lookup: guard.lookup });
  return (target, callback) => {
    const host = hostOf(target);
    // A socket does not look up a host that is an address.
    if (isIP(host) !== 0 && !guard.allows(host)) return queueMicrotask(() => callback(new RefusedAddressError(), null));
    connect(target, (error, socket) => {
      if (error) return callback(error, null);
      if (guard.allows(socket.remoteAddress ?? '')) return callback(null, socket);
      socket.destroy();
      callback(new RefusedAddressError(), null);
    });
  };
}
