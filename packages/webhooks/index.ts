export { eventsPage } from './events-page/events-page.ts';
export { webhooksModule } from './module.ts';
