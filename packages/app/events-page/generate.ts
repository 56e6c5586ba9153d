import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventsPage } from '@tradepost/webhooks';
import { modules } from '../modules.ts';

/** Writes `docs/EVENTS.md` from the events of all modules: `npm run generate:events`. */
export const eventsFile = join(import.meta.dirname, '../../../docs/EVENTS.md');

export const currentEventsPage = (): string => eventsPage(modules.flatMap(({ events = [] }) => events));

if (import.meta.main) await writeFile(eventsFile, currentEventsPage());
