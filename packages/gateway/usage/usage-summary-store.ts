import { plannedByValue, type Sql } from '@tradepost/postgres';

export const usageGroups = ['user', 'token', 'model', 'day'] as const;
type UsageGroup = (typeof usageGroups)[number];

export type UsageSum = {
  /** Id of the user or token, name of the model, or day. */
  key: string;
  requests: number;
  failed: number;
  cancelled: number;
  open: number;
  /** Tokens that the limiter charged. */
  charged_tokens: number;
  input_tokens: number;
  output_tokens: number;
};

export type UsageQuery = {
  from: Date;
  /** Not included. */
  to: Date;
  by: UsageGroup;
  /** Time zone of the days. */
  zone: string;
  limit: number;
  offset: number;
};

/** A page of usage sums in a span of time, with the number of groups. The most tokens first; the latest day first. */
export async function usageSummary(
  sql: Sql,
  { from, to, by, zone, limit, offset }: UsageQuery,
): Promise<{ rows: UsageSum[]; total: number }> {
  const key = {
    user: sql`user_id::text`,
    token: sql`token_id::text`,
    model: sql`model`,
    day: sql`to_char(started_at at time zone ${zone}, 'YYYY-MM-DD')`,
  }[by];
  const order = by === 'day' ? sql`key desc` : sql`input_tokens + output_tokens desc, key`;
  const found = await plannedByValue(sql<(UsageSum & { total: number })[]>`
    with used as (
      select ${key} as key, state, estimated_input_tokens, max_output_tokens, input_tokens, output_tokens
      from gateway.usage where started_at >= ${from} and started_at < ${to}
    ), sums as (
      select key, count(*) as requests,
        count(*) filter (where state = 'failed') as failed,
        count(*) filter (where state = 'cancelled') as cancelled,
        count(*) filter (where state = 'open') as open,
        sum(estimated_input_tokens + max_output_tokens)::bigint as charged_tokens,
        coalesce(sum(input_tokens), 0)::bigint as input_tokens,
        coalesce(sum(output_tokens), 0)::bigint as output_tokens
      from used group by key
    ), page as (
      select * from sums order by ${order} limit ${limit} offset ${offset}
    )
    -- The page can be empty although there are groups.
    select page.*, counted.total from (select count(*) as total from sums) as counted left join page on true
    order by ${order}`);
  const rows = found.flatMap(({ total: _, ...row }) => (row.key === null ? [] : [row as UsageSum]));
  return { rows, total: found[0]?.total ?? 0 };
}
