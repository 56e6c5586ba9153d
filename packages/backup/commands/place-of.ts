import { type CommandContext, settingsIn } from '@tradepost/module';
import { configOf, databaseOptions, type GlobalOptions } from '@tradepost/terminal';
import { backupErrors } from '../errors.ts';
import { bucketAccount } from '../places/bucket-account.ts';
import type { BucketAccount } from '../places/bucket-place.ts';
import { destination } from '../schedule/settings.ts';

/** The place and the account. Without a place, and for the account of a bucket, the settings of the shop are read. */
export async function placeOf(
  context: CommandContext,
  given: string | undefined,
  options: GlobalOptions,
): Promise<{ place: string; base: string; account: () => BucketAccount }> {
  if (given !== undefined) {
    const { config } = configOf(databaseOptions(options));
    return { place: given, base: '.', account: bucketAccount(settingsIn(config, [])) };
  }
  return context.withRuntime(options, async ({ settings, config }) => {
    const place = settings.get(destination);
    if (place === '') throw backupErrors.no_destination();
    const account = bucketAccount(settings)();
    return { place, base: config.data, account: () => account };
  });
}
