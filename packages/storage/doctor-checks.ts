import { AppError } from '@tradepost/core';
import { type DoctorCheck, messageOf } from '@tradepost/module';
import type { StorageDriverEntry } from './drivers/driver.ts';
import { openDrivers } from './drivers/open-drivers.ts';
import { defaultDriver, maxBytes } from './settings.ts';

/** Checks that the default driver takes files, and that no limit contradicts another. */
export const uploadDoctorCheck = (drivers: readonly StorageDriverEntry[]): DoctorCheck => ({
  name: 'uploads',
  area: { name: 'uploads', sort: 45 },
  async check({ config, settings }, { ok, error, warning }) {
    const limit = settings.get(maxBytes);
    if (limit > config.maxUploadBytes)
      warning(
        'uploads/limit-too-large',
        `${maxBytes.key} is ${limit}, and MAX_UPLOAD_BYTES refuses requests above ${config.maxUploadBytes} bytes`,
        `tradepost settings set ${maxBytes.key} <bytes>, or start with a larger MAX_UPLOAD_BYTES`,
      );
    const name = settings.get(defaultDriver);
    try {
      const driver = openDrivers({ config, settings }, drivers).choose(undefined);
      await driver.check();
      ok(`uploads go to the storage ${driver.name}`);
    } catch (reason) {
      const todo =
        reason instanceof AppError
          ? `tradepost settings set ${String(reason.values.setting ?? defaultDriver.key)}`
          : 'check the folder, or the address and the keys of the bucket';
      error('uploads/unusable', `the storage ${name} cannot be used: ${messageOf(reason)}`, todo);
    }
  },
});
