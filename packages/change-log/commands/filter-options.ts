import { UsageError, wholeNumber, withDatabaseOptions } from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { operations, sources } from '../change.ts';
import type { ChangeFilter } from '../change-store.ts';
import { changeLogErrors } from '../errors.ts';
import { type FilterQuery, filterOf } from '../schemas.ts';

export type FilterOptions = Partial<
  Record<'table' | 'row' | 'action' | 'request' | 'from' | 'to' | 'keyword', string>
> & {
  staff?: number;
  source?: (typeof sources)[number];
  operation?: (typeof operations)[number];
};

const queryOf = ({ staff, row, request, ...others }: FilterOptions): FilterQuery => ({
  ...{ staff_id: staff, row_id: row, request_id: request },
  ...{ source: others.source, operation: others.operation, table: others.table, action: others.action },
  ...{ from: others.from, to: others.to, keyword: others.keyword },
});

/** The filter of the options. A time that is no time is wrong usage. */
export function filterOfOptions(options: FilterOptions, zone: string): ChangeFilter {
  try {
    return filterOf(queryOf(options), zone);
  } catch (error) {
    if (error instanceof Error && 'refusal' in error && error.refusal === changeLogErrors.invalid_moment.refusal)
      throw new UsageError(`--${error.message}`);
    throw error;
  }
}

export const withFilters = (command: Command): Command =>
  withDatabaseOptions(command)
    .option('--staff <id>', 'only changes of this administrator', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .addOption(new Option('--source <source>', 'only changes by the API or by commands').choices(sources))
    .option('--table <table>', 'only changes of this table, for example products')
    .option('--row <id>', 'only changes of the row with this id')
    .option('--action <action>', 'only changes by this route or command')
    .addOption(new Option('--operation <operation>', 'only this kind of change').choices(operations))
    .option('--request <id>', 'only changes of this request')
    .option('--from <time>', 'only changes at or after this time, in the time zone of the shop')
    .option('--to <time>', 'only changes at or before this time; a date includes the whole day')
    .option('--keyword <text>', 'only changes with this text in a name, the action or the values');
