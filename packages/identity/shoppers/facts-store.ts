import type { Sql } from '@tradepost/postgres';

export type IdentityFacts = { signing_key_at: Date | null; administrators: number; demo_accounts: number };

/** The age of the newest signing key, and the numbers of enabled administrators and enabled demo accounts. */
export async function selectIdentityFacts(sql: Sql): Promise<IdentityFacts> {
  const [row] = await sql<IdentityFacts[]>`
    select (select max(created_at) from identity.signing_keys) as signing_key_at,
           (select count(*) from identity.staff where status = 1) as administrators,
           (select count(*) from identity.staff where status = 1 and is_demo)
             + (select count(*) from identity.shoppers where status = 1 and is_demo) as demo_accounts`;
  return row!;
}
