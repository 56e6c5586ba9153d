export const levels = ['ok', 'note', 'warning', 'error'] as const;
export type Level = (typeof levels)[number];

/** The result of one check: what was found, and what to do about it unless it is in order. */
export type Finding = { area: string; level: Level; what: string; todo: string };

/** Findings of one area. Each call of `ok`, `note`, `warning` and `error` adds one. */
export function findingsOf(area: string) {
  const findings: Finding[] = [];
  const add = (level: Level) => (what: string, todo: string) => {
    findings.push({ area, level, what, todo });
  };
  return {
    findings,
    ok: (what: string) => add('ok')(what, ''),
    note: add('note'),
    warning: add('warning'),
    error: add('error'),
  };
}

export type Findings = ReturnType<typeof findingsOf>;

/** A name or address of this machine that no other machine reaches. */
export const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

export const messageOf = (error: unknown): string => {
  // A refused connection to a name with several addresses has its reasons inside.
  const { message, code, errors } = error as { message?: string; code?: string; errors?: Error[] };
  return message || errors?.map((each) => each.message).join(', ') || code || String(error);
};
