export const levels = ['ok', 'note', 'warning', 'error'] as const;
export type Level = (typeof levels)[number];

/**
 * The permanent name of a kind of finding: `jobs/late`. docs/TROUBLESHOOTING.md explains each id. It is written out where it is
 * used, so that a search finds it.
 */
export type FindingId = `${string}/${string}`;

/** The result of one check. `todo` says how to correct it. `todo` and `id` are empty for the level `ok`. */
export type Finding = { id: FindingId | ''; area: string; level: Level; what: string; todo: string };

/** The findings of one area. Each call of `ok`, `note`, `warning` or `error` adds one finding. */
export function findingsOf(area: string) {
  const findings: Finding[] = [];
  const add = (level: Level) => (id: FindingId, what: string, todo: string) => {
    findings.push({ id, area, level, what, todo });
  };
  return {
    findings,
    ok: (what: string) => void findings.push({ id: '', area, level: 'ok', what, todo: '' }),
    note: add('note'),
    warning: add('warning'),
    error: add('error'),
  };
}

export type Findings = ReturnType<typeof findingsOf>;

/** Whether only this machine can reach the host. */
export const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

/** Whether the network between this machine and an http or https address reads what is sent there. */
export function isNotEncrypted(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopback(hostname);
}

export const messageOf = (error: unknown): string => {
  // A refused connection to a name with several addresses has one error per address.
  const { message, code, errors, cause } = error as Partial<AggregateError> & { code?: string };
  // `fetch` says only that it has failed.
  if (error instanceof TypeError && cause) return `${message}: ${messageOf(cause)}`;
  return message || errors?.map((each) => each.message).join(', ') || code || String(error);
};
