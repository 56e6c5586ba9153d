import { lockActiveShoppers } from '@tradepost/identity';
import type { InboxTemplate } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { type EventReader, type OutboxEvent, type Runtime, shopLocale } from '@tradepost/runtime';
import type { NewMessage } from '../messages/message.ts';
import { insertMessages } from '../messages/message-store.ts';
import { templateText } from './message-texts.ts';
import { templatesOff } from './template-settings.ts';

type Deps = Pick<Runtime, 'settings'>;

/** The messages of these events, by the templates that are on. */
function messagesOf({ settings }: Deps, templates: readonly InboxTemplate[], events: readonly OutboxEvent[]) {
  const off = new Set(settings.get(templatesOff));
  const on = Map.groupBy(
    templates.filter(({ name }) => !off.has(name)),
    ({ event }) => event.name,
  );
  const locale = settings.get(shopLocale);
  return events.flatMap(({ id, name, data, occurred_at }) =>
    (on.get(name) ?? [])
      .filter((template) => template.applies?.(data) ?? true)
      .map(
        (template): NewMessage => ({
          user_id: template.receiver(data),
          message_group: template.group,
          priority: 'normal',
          ...templateText(settings, template, data, locale),
          template: template.name,
          facts: data,
          event_id: id,
          staff_id: 0,
          created_at: occurred_at,
        }),
      ),
  );
}

/** Writes inbox messages about events, in the transaction that marks the events. Shoppers without an active account get none. */
async function writeMessages(tx: Transaction, messages: readonly NewMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const active = await lockActiveShoppers(tx, [...new Set(messages.map(({ user_id }) => user_id))]);
  const wanted = messages.filter(({ user_id }) => active.has(user_id));
  if (wanted.length > 0) await insertMessages(tx, wanted);
}

/** The reader of all events that have a template. */
export const templateReader = (deps: Deps, templates: readonly InboxTemplate[]): EventReader => ({
  name: 'message_centre.templates',
  kinds: [...new Set(templates.map(({ event }) => event.name))],
  read: (tx, events) => writeMessages(tx, messagesOf(deps, templates, events)),
});
