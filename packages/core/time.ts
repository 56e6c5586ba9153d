const formatters = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();
const quarterHour = 15 * 60_000;

export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * The offset of `zone` from UTC in minutes at an instant. Offsets change at quarter hours only, so one is cached per
 * quarter hour.
 */
function zoneOffsetMinutes(at: number, zone: string): number {
  const slot = Math.floor(at / quarterHour);
  const key = `${zone} ${slot}`;
  const cached = offsets.get(key);
  if (cached !== undefined) return cached;
  let formatter = formatters.get(zone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    formatters.set(zone, formatter);
  }
  const name = formatter.formatToParts(slot * quarterHour).find((p) => p.type === 'timeZoneName')?.value ?? 'GMT';
  const match = /GMT([+-])(\d{2}):(\d{2})/.exec(name);
  const minutes = match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) : 0;
  if (offsets.size > 10_000) offsets.clear();
  offsets.set(key, minutes);
  return minutes;
}

/**
 * ISO 8601 with the offset of the zone, in whole seconds: `2026-03-01T09:30:00+08:00`. The length of the text is fixed,
 * because clients cut parts out of it by position.
 */
export function isoInZone(at: Date, zone: string): string {
  const time = at.getTime();
  const offset = zoneOffsetMinutes(time, zone);
  const local = new Date(time + offset * 60_000).toISOString().slice(0, 19);
  const absolute = Math.abs(offset);
  const hours = String(Math.trunc(absolute / 60)).padStart(2, '0');
  const minutes = String(absolute % 60).padStart(2, '0');
  return `${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`;
}

const localTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?)?$/;
const absoluteTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/**
 * Parses a time of a client: ISO 8601, with `T` or a blank between date and time. A time without an offset is in
 * `zone`. As the end of a range, a date means its last millisecond, and a time without a fraction the last millisecond
 * of its second. Null when the text is not a time. A local time that a clock change repeats or skips becomes one of the
 * instants around it.
 */
export function instantInZone(text: string, zone: string, edge: 'start' | 'end'): Date | null {
  const at = parseInstant(text, zone, edge);
  // Other years are typing errors, and PostgreSQL does not accept all of them.
  return at && at.getUTCFullYear() >= 1900 && at.getUTCFullYear() < 9999 ? at : null;
}

function parseInstant(text: string, zone: string, edge: 'start' | 'end'): Date | null {
  if (absoluteTime.test(text)) {
    const at = Date.parse(text.replace(' ', 'T'));
    return Number.isNaN(at) ? null : new Date(at);
  }
  const parts = localTime.exec(text);
  if (!parts) return null;
  const [, date, minute, second] = parts;
  const last = edge === 'end';
  const time = minute ? `${minute}${second ?? (last ? ':59' : ':00')}` : last ? '23:59:59' : '00:00:00';
  const local = Date.parse(`${date}T${time}${last && !time.includes('.') ? '.999' : ''}Z`);
  // Date.parse may accept 2026-02-30 as 2 March.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 10) !== date) return null;
  const guess = local - zoneOffsetMinutes(local, zone) * 60_000;
  return new Date(local - zoneOffsetMinutes(guess, zone) * 60_000);
}
