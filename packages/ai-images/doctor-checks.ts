import type { DoctorCheck } from '@tradepost/module';
import type { ImageDriver } from './drivers/driver.ts';
import { selectModels } from './models/model-store.ts';

/** Checks that each enabled model has a driver and a key. A shop without models needs none. */
export const modelDoctorCheck = (drivers: readonly ImageDriver[]): DoctorCheck => ({
  name: 'image models',
  area: { name: 'ai images', sort: 85 },
  async check({ sql }, { ok, warning, error }) {
    const models = await selectModels(sql, { all: false });
    for (const { id, name, driver, api_key_sealed } of models) {
      if (!drivers.some((one) => one.name === driver))
        error(
          'ai-images/driver-missing',
          `the image model ${name} has the driver ${driver}, which no module has`,
          `tradepost ai models remove ${id}`,
        );
      else if (api_key_sealed === null)
        warning('ai-images/no-key', `the image model ${name} has no key`, `tradepost ai models edit ${id} --key-stdin`);
    }
    if (models.length > 0 && !models.some(({ is_default }) => is_default))
      warning(
        'ai-images/no-default',
        'no image model is the default',
        `tradepost ai models edit ${models[0]!.id} --default`,
      );
    if (models.length > 0) ok(`enabled image models: ${models.length}`);
  },
});
