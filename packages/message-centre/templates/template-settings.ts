import { locales } from '@tradepost/core';
import type { InboxTemplate } from '@tradepost/module';
import { type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { maxContent, maxTitle } from '../limits.ts';
import { hasMarkup } from './markup.ts';

/** Most templates of all modules. */
const maxTemplates = 100;

const ownText = (max: number) =>
  z.partialRecord(
    z.enum(locales),
    z
      .string()
      .trim()
      .min(1)
      .max(max)
      .refine((text) => !hasMarkup(text), { error: 'must be plain text without HTML tags' }),
  );
const ownTexts = z.strictObject({ title: ownText(maxTitle).optional(), content: ownText(maxContent).optional() });

/** The keys with which the settings are read. The registered definitions come from `templateSettings`. */
export const templatesOff = setting(
  'inbox.templates_off',
  z.array(z.string()).max(maxTemplates),
  [],
  'inbox messages about events that are not written, as a JSON list',
);
export const templateTexts = setting(
  'inbox.template_texts',
  z.record(z.string(), ownTexts),
  {},
  'texts of the shop for inbox messages about events, as JSON: {"order_paid": {"title": {"en": "Thank you"}, "content": {"en": ' +
    '"We have your payment of {amount}"}}}; a text that is absent is that of the program',
);

/** Whether all `{name}` of these texts are values of the template. */
function knowsValues({ params }: InboxTemplate, { title, content }: z.output<typeof ownTexts>): boolean {
  const texts = [...Object.values(title ?? {}), ...Object.values(content ?? {})].join(' ');
  return [...texts.matchAll(/\{(\w+)\}/g)].every(([, name]) => params.includes(name!));
}

/**
 * The settings that name templates. `templates` are those of the modules that run. The names of the other `known` ones are
 * accepted too, so that a module can be switched off and on again.
 */
export function templateSettings(templates: readonly InboxTemplate[], known: readonly InboxTemplate[]): Setting[] {
  const names = known.map(({ name }) => name);
  const listed = names.join(', ') || 'no module has templates';
  const unknown = { error: `must name only: ${listed}` };
  const byName = new Map(known.map((template) => [template.name, template]));
  return [
    {
      ...templatesOff,
      schema: z
        .array(z.string(), unknown)
        .max(maxTemplates)
        .refine((off) => off.every((name) => byName.has(name)), unknown),
      about: `${templatesOff.about}: ${templates.map(({ name }) => name).join(', ')}`,
    },
    {
      ...templateTexts,
      schema: z
        .record(z.string(), ownTexts)
        .refine((texts) => Object.keys(texts).every((name) => byName.has(name)), unknown)
        .superRefine((texts, context) => {
          for (const [name, own] of Object.entries(texts)) {
            const template = byName.get(name);
            if (template && !knowsValues(template, own))
              context.addIssue({ code: 'custom', message: `${name}: its values are ${template.params.join(', ')}` });
          }
        }),
    },
  ];
}
