import { isoInZone } from '@tradepost/core';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../../errors.ts';
import { maxNotes } from '../../limits.ts';
import { lockOrders } from '../repricing/reprice-store.ts';
import { insertNotes, type OrderNote, selectNotes } from './note-store.ts';

/** Adds one note to many orders. Returns for each order true or its refusal. */
export async function noteOrders(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  orderIds: readonly number[],
  note: { content: string; visible_to: string; staff_id: number },
): Promise<(true | Error)[]> {
  const row = { ...note, now: runtime.now(), max: maxNotes };
  const { existing, noted } = await runtime.sql.begin(async (tx) => {
    const [locked, added] = await Promise.all([lockOrders(tx, orderIds), insertNotes(tx, orderIds, row)]);
    return { existing: new Set(locked.map((order) => order.id)), noted: new Set(added) };
  });
  return orderIds.map((id) => {
    if (noted.has(id)) return true;
    return existing.has(id) ? orderErrors.too_many_notes({ max: maxNotes }) : orderErrors.order_not_found();
  });
}

type NoteView = { id: number; content: string; visible_to: string; created_at: string };

/** The notes of these orders as they are answered, oldest first. One statement reads the notes of all orders. */
export async function noteViews(
  runtime: Pick<Runtime, 'sql' | 'settings'>,
  orderIds: readonly number[],
): Promise<ReadonlyMap<number, NoteView[]>> {
  const zone = runtime.settings.get(timeZone);
  const view = ({ order_id: _order, ...note }: OrderNote) => ({
    ...note,
    created_at: isoInZone(note.created_at, zone),
  });
  const byOrder = new Map<number, NoteView[]>();
  for (const note of orderIds.length > 0 ? await selectNotes(runtime.sql, orderIds) : []) {
    const list = byOrder.get(note.order_id);
    if (list) list.push(view(note));
    else byOrder.set(note.order_id, [view(note)]);
  }
  return byOrder;
}
