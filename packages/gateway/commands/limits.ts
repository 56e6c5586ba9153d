import { shopperNamed } from '@tradepost/identity';
import type { CommandContext } from '@tradepost/module';
import {
  commandAuthor,
  type GlobalOptions,
  print,
  printJson,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { selectUserLimits } from '../limits/user-limits-store.ts';
import { maxLimit } from '../tokens/api-token.ts';
import { openApiTokens } from '../tokens/api-tokens.ts';
import { userLimitsViewOf } from '../tokens/token-view.ts';

export const limitNumber = wholeNumber(0, maxLimit);

/** `inherit` is not null here, because commander treats null as an option without a value. */
type Given = number | 'inherit' | undefined;
function limitOrInherit(text: string): number | 'inherit' {
  if (text === 'inherit') return text;
  try {
    return limitNumber(text);
  } catch {
    throw new InvalidArgumentError(`It must be a whole number from 0 (unlimited) to ${maxLimit}, or inherit.`);
  }
}

export const limitText = (limit: number) => (limit === 0 ? 'unlimited' : String(limit));
const storedText = (limit: number | null) => (limit === null ? 'inherit' : limitText(limit));

type LimitsOptions = GlobalOptions & { rpm?: Given; tpm?: Given };
const storedOf = (given: Given) => (given === 'inherit' ? null : given);

export function addLimits(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('limits')
      .argument('<user>', 'phone number, user name or id of a shopper')
      .description('show the limits of a shopper over all API tokens, or change the given ones')
      .option('--rpm <n|inherit>', 'requests per minute; 0 is unlimited, inherit uses the default', limitOrInherit)
      .option('--tpm <n|inherit>', 'tokens per minute; 0 is unlimited, inherit uses the default', limitOrInherit)
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost gateway limits 13800000000\n  $ tradepost gateway limits 1 --rpm 600 --tpm 1000000\n  $ tradepost gateway limits 1 --rpm inherit --tpm inherit',
      ),
  ).action((given: string, { rpm, tpm, json, ...options }: LimitsOptions) =>
    context.withRuntime(options, async (runtime) => {
      const userId = await shopperNamed(runtime, given);
      if (rpm !== undefined || tpm !== undefined) {
        const limits = { rpm_limit: storedOf(rpm), tpm_limit: storedOf(tpm) };
        const tokens = await openApiTokens(runtime);
        await tokens.setUserLimits(userId, limits, commandAuthor()).finally(() => tokens.close());
      }
      const view = userLimitsViewOf(runtime, userId, await selectUserLimits(runtime.sql, userId));
      if (json) return printJson(view);
      print(
        table([
          ['', 'STORED', 'IN FORCE'],
          ['requests per minute', storedText(view.rpm_limit), limitText(view.effective.user_rpm)],
          ['tokens per minute', storedText(view.tpm_limit), limitText(view.effective.user_tpm)],
        ]),
      );
    }),
  );
}
