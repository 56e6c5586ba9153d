import { instantInZone } from '@tradepost/core';
import { isStorable } from '@tradepost/http';
import { z } from 'zod';
import { maxNodesPerAnswer, maxPayloadCharacters } from '../limits.ts';
import type { CarrierNode } from './driver.ts';

/** Both services answer local times of China, whatever the zone of the shop is. */
const carrierZone = 'Asia/Shanghai';
/** The clocks of a service may differ from ours. */
const dayMs = 86_400_000;
/** An earlier time is the zero of a clock, and would be shown as the time of the signature. */
const earliest = Date.UTC(2000, 0, 1);
const localTime = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2}))?/;

/** A text or number of an answer as text. Anything else is the empty text. */
export const looseText = () =>
  z
    .union([z.string(), z.number().transform(String)])
    .nullish()
    .transform((value) => value ?? '')
    .catch('');

/** A text of a carrier in one line of at most `max` characters that PostgreSQL can store. */
export const carrierText = (value: string, max: number): string =>
  value
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, max)
    .replace(/[\ud800-\udbff]$/, '');

/** The instant of `2026-03-01 09:30:00` or `2026/3/1 9:30:00`. Null when the text is not a time. */
export function eventTime(text: string): Date | null {
  const parts = localTime.exec(text.trim());
  if (!parts) return null;
  const [year, ...rest] = parts.slice(1);
  const [month, day, hour, minute, second = '00'] = rest.map((part) => part?.padStart(2, '0'));
  return instantInZone(`${year}-${month}-${day} ${hour}:${minute}:${second}`, carrierZone, 'start');
}

/** Whether an answer names this shipment, or none. */
export const isAbout = (named: string, trackingNo: string): boolean =>
  named.trim() === '' || named.trim().toUpperCase() === trackingNo.trim().toUpperCase();

/** An event of an answer, as its driver has read it. */
type ReadNode = { time: string; code: string; text: string; location: string; raw: Record<string, unknown> };

const kept = (raw: Record<string, unknown>) =>
  isStorable(raw, 8) && JSON.stringify(raw).length <= maxPayloadCharacters ? raw : {};

/** The events of an answer, newest first. Entries that `read` does not understand, and those without a possible time, are left out. */
export function nodesOf(entries: readonly unknown[], read: (entry: unknown) => ReadNode | null): CarrierNode[] {
  const latest = Date.now() + dayMs;
  const nodes = entries.flatMap((entry): CarrierNode[] => {
    const node = read(entry);
    const event_time = node && eventTime(node.time);
    if (!event_time || event_time.getTime() < earliest || event_time.getTime() > latest) return [];
    return [
      {
        status_code: carrierText(node.code, 50),
        status_text: carrierText(node.text, 500),
        event_time,
        location: carrierText(node.location, 200),
        raw_payload: kept(node.raw),
      },
    ];
  });
  return nodes.sort((a, b) => b.event_time.getTime() - a.event_time.getTime()).slice(0, maxNodesPerAnswer);
}
