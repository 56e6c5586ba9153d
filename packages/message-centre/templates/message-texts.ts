import { fill, type Locale } from '@tradepost/core';
import type { InboxTemplate } from '@tradepost/module';
import type { Settings } from '@tradepost/runtime';
import { maxStoredContent, maxStoredTitle } from '../limits.ts';
import type { InboxMessage } from '../messages/message.ts';
import { tagStart } from './markup.ts';
import { templateTexts } from './template-settings.ts';

type Texts = { readonly title: string; readonly content: string };
type MessageData = Readonly<Record<string, string | number>>;

const cut = (text: string, max: number) => [...text].slice(0, max).join('');

/** Some clients render HTML. A value, such as a tracking number, must not become a tag: a space ends its beginning. */
const plain = (text: string) => text.replace(tagStart, '< ');

/** The text of a template with the values of an event, in one language. The texts of the shop come before those of the package. */
export function templateText(
  settings: Pick<Settings, 'get'>,
  template: InboxTemplate,
  facts: unknown,
  locale: Locale,
): Texts {
  const own = settings.get(templateTexts)[template.name];
  const values = template.values(facts, locale);
  return {
    title: cut(plain(fill(own?.title?.[locale] ?? template.title[locale], values)), maxStoredTitle),
    content: cut(plain(fill(own?.content?.[locale] ?? template.content[locale], values)), maxStoredContent),
  };
}

export type ReadTexts = (message: InboxMessage, locale: Locale) => Texts & { readonly data: MessageData };

/**
 * The text of a message in the language of its reader. A message that was sent by hand has the text that was sent. So has the
 * message of an event whose template is gone, or whose facts another version recorded.
 */
export function openMessageTexts(settings: Pick<Settings, 'get'>, templates: readonly InboxTemplate[]): ReadTexts {
  const byName = new Map(templates.map((template) => [template.name, template]));
  return ({ title, content, template: name, facts }, locale) => {
    const template = name === null ? undefined : byName.get(name);
    const parsed = template?.event.data.safeParse(facts);
    if (!template || !parsed?.success) return { title, content, data: {} };
    return { ...templateText(settings, template, parsed.data, locale), data: template.data(parsed.data) };
  };
}
