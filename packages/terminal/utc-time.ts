/** A time of a table or a line, in UTC and to the second: `2026-03-01T09:30:00Z`. */
export const utcTime = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');
