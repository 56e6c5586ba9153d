import { selectStoredSettings } from '@tradepost/runtime';
import { type FileReferences, pathIn } from '@tradepost/storage';

/** The logo, and whatever else the site settings name. */
export const siteFiles: FileReferences = {
  name: 'backoffice',
  async referenced(sql, addresses) {
    const settings = await selectStoredSettings(sql);
    const texts = JSON.stringify(settings.filter(({ key }) => key.startsWith('site.')));
    return addresses.filter((address) => texts.includes(pathIn(address) ?? address));
  },
};
