import type { EventReader } from '@tradepost/runtime';
import { defineRegistry } from '../registry.ts';

/** The packages that act on events: messages to shoppers, webhooks. */
export const eventReaders = defineRegistry<EventReader>('module.event_readers');
