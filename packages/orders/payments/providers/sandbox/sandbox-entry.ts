import type { RedirectEntry } from '../provider.ts';
import { sandboxProvider } from './sandbox-provider.ts';
import { sandboxName, sandboxSettings } from './settings.ts';

export const sandboxEntry: RedirectEntry = {
  name: sandboxName,
  kind: 'redirect',
  settings: sandboxSettings,
  open: sandboxProvider,
};
