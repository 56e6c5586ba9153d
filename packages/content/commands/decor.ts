import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { isoInZone, pagingOf } from '@tradepost/core';
import type { CommandContext, RegisterCommand } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { type GlobalOptions, print, printJson, table, UsageError, withDatabaseOptions } from '@tradepost/terminal';
import type { Command } from 'commander';
import { readComponents } from '../components/read-components.ts';
import { saveDraft } from '../decor/change-variants.ts';
import { selectDraft, selectVariants, type VariantRow } from '../decor/decor-store.ts';
import { changedTopic } from '../decor/page-cache.ts';
import { selectPublications } from '../decor/publication-store.ts';
import { publish, rollBack } from '../decor/publish-variants.ts';
import { normalKey } from '../decor/variant-key.ts';
import { listPages, type RemoveOptions, removePageNamed } from './decor-pages.ts';

async function list({ sql, settings }: Runtime, page: string, json: boolean | undefined): Promise<void> {
  const variants = await selectVariants(sql, page);
  const { rows, total } = await selectPublications(sql, page, pagingOf({ page: 1, size: 20 }));
  if (json) {
    const shown = variants.map(({ components: _, ...variant }) => variant);
    return printJson({ page_key: page, variants: shown, publications: rows, total });
  }
  const zone = settings.get(timeZone);
  const time = (at: Date | null) => (at ? isoInZone(at, zone) : '-');
  const live = (row: VariantRow) => (row.is_published ? 'live' : row.published_at ? 'published before' : 'draft');
  print(
    table([
      ['VARIANT', 'NAME', 'STATE', 'CHANGED DRAFT', 'PUBLISHED'],
      ...variants.map((row) => [
        ...[row.variant_key, row.variant_name, live(row), row.has_changes ? 'yes' : 'no', time(row.published_at)],
      ]),
    ]),
  );
  print(
    table([
      ['PUBLICATION', 'VARIANT', 'AT', 'BY', 'LIVE'],
      ...rows.map((row) => [
        ...[
          String(row.id),
          row.variant_key,
          time(row.published_at),
          String(row.published_by_id),
          row.is_live ? 'yes' : 'no',
        ],
      ]),
    ]),
  );
  print(`${variants.length} variants; ${rows.length} of ${total} publications`);
}

/** Changes a page in one transaction. Running servers then read it again. */
async function change(
  { withRuntime }: CommandContext,
  options: GlobalOptions,
  page: string,
  work: (tx: Transaction, now: Date) => Promise<VariantRow>,
): Promise<void> {
  const { json, ...database } = options;
  await withRuntime(database, async ({ sql, events, now }) => {
    const { components: _, ...variant } = await sql.begin((tx) => work(tx, now()));
    await events.publish(changedTopic, page);
    if (json) return printJson(variant);
    print(`${page}: variant ${variant.variant_key} is ${variant.is_published ? 'live' : 'saved as a draft'}`);
  });
}

type VariantOptions = GlobalOptions & { variant?: string };
const variantOf = ({ variant = '' }: VariantOptions) => normalKey(variant);

async function importFrom(context: CommandContext, page: string, file: string, options: VariantOptions): Promise<void> {
  const { variant: _, ...rest } = options;
  const sent = file === '-' ? await textOf(process.stdin) : await readFile(file, 'utf8');
  const of = { pageKey: page, variantKey: variantOf(options) };
  // The same checks as in the back office. A refusal names the field.
  const components = readComponents(page, sent, { locale: 'en', relative: (url) => url });
  await change(context, rest, page, (tx, now) => saveDraft(tx, { ...of, components }, now));
}

async function exportTo({ withRuntime }: CommandContext, page: string, options: VariantOptions): Promise<void> {
  const { variant: _, ...database } = options;
  await withRuntime(database, async ({ sql }) => {
    const row = await selectDraft(sql, page, variantOf(options));
    if (!row) throw new Error(`there is no variant ${variantOf(options)}: tradepost decor list ${page}`);
    printJson(JSON.parse(row.components));
  });
}

const variantText = 'the key of the variant (default: default)';
const withVariant = (command: Command) => withDatabaseOptions(command.option('--variant <key>', variantText));
const example = (line: string) => `\nExample:\n  $ tradepost decor ${line}`;

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('list [page]')
      .description('variants and publications of a page, such as index or pc; without a page all pages')
      .option('--json', 'print them as JSON')
      .addHelpText('after', example('list index')),
  ).action(async (page: string | undefined, { json, ...options }: GlobalOptions) => {
    if (page === undefined) return listPages(context, { json, ...options });
    await context.withRuntime(options, (runtime) => list(runtime, normalKey(page), json));
  });
  withVariant(
    group
      .command('publish <page>')
      .description('publish the draft of a variant; the other variants of the page are no longer live')
      .option('--json', 'print the variant as JSON')
      .addHelpText('after', example('publish index --variant summer')),
  ).action((page: string, options: VariantOptions) => {
    const { variant: _, ...rest } = options;
    const of = { pageKey: normalKey(page), variantKey: variantOf(options) };
    return change(context, rest, of.pageKey, (tx, now) => publish(tx, of, { by: 0, now }));
  });
  withDatabaseOptions(
    group
      .command('rollback <page> <publication>')
      .description('publish the content of an earlier publication again')
      .option('--json', 'print the variant as JSON')
      .addHelpText('after', example('rollback index 12')),
  ).action((page: string, publication: string, options: GlobalOptions) => {
    const publicationId = Number(publication);
    if (!Number.isSafeInteger(publicationId) || publicationId < 1)
      throw new UsageError('publication: a whole number from 1');
    const pageKey = normalKey(page);
    return change(context, options, pageKey, (tx, now) => rollBack(tx, { pageKey, publicationId }, { by: 0, now }));
  });
  withVariant(
    group
      .command('export <page>')
      .description('print the draft of a variant as JSON')
      .addHelpText('after', example('export pc > pc.json')),
  ).action((page: string, options: VariantOptions) => exportTo(context, normalKey(page), options));
  withVariant(
    group
      .command('import <page> <file>')
      .description('save the draft of a variant from a file or from standard input (-)')
      .option('--json', 'print the variant as JSON')
      .addHelpText('after', example('import pc pc.json --variant summer')),
  ).action((page: string, file: string, options: VariantOptions) =>
    importFrom(context, normalKey(page), file, options),
  );
  withDatabaseOptions(
    group
      .command('remove <page>')
      .description('remove a page with all drafts and publications; shoppers get an empty page')
      .option('--yes', 'do not ask')
      .option('--json', 'print what was removed as JSON')
      .addHelpText('after', example('remove indx --yes')),
  ).action((page: string, options: RemoveOptions, command: Command) =>
    removePageNamed(context, normalKey(page), options, command),
  );
};
