import { isoInZone } from '@tradepost/core';
import type { CommandContext } from '@tradepost/module';
import { timeZone } from '@tradepost/runtime';
import { confirm, type GlobalOptions, print, printJson, table } from '@tradepost/terminal';
import type { Command } from 'commander';
import { changedTopic } from '../decor/page-cache.ts';
import { removePage, selectPages } from '../decor/page-store.ts';

/** Prints all pages for which something was saved. */
export async function listPages({ withRuntime }: CommandContext, { json, ...options }: GlobalOptions): Promise<void> {
  await withRuntime(options, async ({ sql, settings }) => {
    const pages = await selectPages(sql);
    if (json) return printJson({ pages });
    const zone = settings.get(timeZone);
    print(
      table([
        ['PAGE', 'VARIANTS', 'LIVE', 'CHANGED'],
        ...pages.map((page) => [
          ...[page.page_key, String(page.variants), page.live ?? '-'],
          page.updated_at ? isoInZone(page.updated_at, zone) : '-',
        ]),
      ]),
    );
    print(`${pages.length} pages`);
  });
}

export type RemoveOptions = GlobalOptions & { yes?: boolean };

/** Removes a page after a question, or at once with `--yes`. */
export async function removePageNamed(
  { withRuntime }: CommandContext,
  page: string,
  { yes, json, ...options }: RemoveOptions,
  command: Command,
): Promise<void> {
  if (!yes) {
    if (!process.stdin.isTTY) command.error('error: without a terminal --yes is needed');
    if (!(await confirm(`Remove the page ${page} with all drafts and publications?`))) {
      if (json) return printJson({ page_key: page, removed: false });
      return print('nothing was removed');
    }
  }
  await withRuntime(options, async ({ sql, events }) => {
    await sql.begin((tx) => removePage(tx, page));
    await events.publish(changedTopic, page);
    if (json) return printJson({ page_key: page, removed: true });
    print(`${page} was removed`);
  });
}
