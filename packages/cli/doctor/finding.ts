export const levels = ['ok', 'note', 'warning', 'error'] as const;
export type Level = (typeof levels)[number];

/** One thing that was looked at: how it stands, and what to do about it unless it is in order. */
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

/** A name or address of this machine that no other machine reaches. */
export const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

export const messageOf = (error: unknown): string => {
  // A refused connection to a name with several addresses has its reasons inside.
  const { message, code, errors } = error as { message?: string; code?: string; errors?: Error[] };
  return message || errors?.map((each) => each.message).join(', ') || code || String(error);
};

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** power).toFixed(power > 1 ? 1 : 0)} ${units[power]}`;
}
