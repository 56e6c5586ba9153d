import type { Locale, Localized } from '@tradepost/core';
import type { EventKind } from '@tradepost/runtime';
import { defineRegistry } from '../registry.ts';

/** The groups of the inbox, as the clients of the contract know them. */
export const inboxGroups = ['system', 'order', 'marketing', 'im'] as const;
export type InboxGroup = (typeof inboxGroups)[number];

/** The inbox message that a shopper gets about an event. The package that records the event declares it. */
// biome-ignore lint/suspicious/noExplicitAny: the facts of all kinds
export type InboxTemplate<Facts = any, Param extends string = string> = {
  /** The name in settings and rows: `order_paid`. It never changes. */
  readonly name: string;
  /** What it reports, for operators. */
  readonly about: string;
  readonly event: EventKind<Facts>;
  readonly group: InboxGroup;
  /** Texts with `{param}` for each value. */
  readonly title: Localized;
  readonly content: Localized;
  readonly params: readonly Param[];
  /** The values of the texts in the language of the reader. */
  readonly values: (facts: Facts, locale: Locale) => Readonly<Record<Param, string>>;
  /** The shopper who gets the message. */
  readonly receiver: (facts: Facts) => number;
  /** False for events that write no message. Default: all write one. */
  readonly applies?: (facts: Facts) => boolean;
  /** Ids that the client needs to open the subject of the message. */
  readonly data: (facts: Facts) => Readonly<Record<string, number | string>>;
};

/** What each of several templates about one kind of facts declares by itself. A function of the package adds what they share. */
export type InboxTexts<Facts> = Pick<
  InboxTemplate<Facts>,
  'name' | 'about' | 'event' | 'title' | 'content' | 'applies'
>;

export const defineInboxTemplate = <Facts, Param extends string>(
  template: InboxTemplate<Facts, Param>,
): InboxTemplate<Facts, Param> => template;

/** The templates of all packages. The message centre reads them. */
export const inboxTemplates = defineRegistry<InboxTemplate>('module.inbox_templates', { isStatic: true });
