import type { InboxGroup } from '@tradepost/module';

export const priorities = ['normal', 'important', 'urgent'] as const;
export type Priority = (typeof priorities)[number];

/** A row of message_centre.messages. `user_id` 0 is a message to all shoppers. */
export type InboxMessage = {
  id: number;
  user_id: number;
  message_group: InboxGroup;
  priority: Priority;
  title: string;
  content: string;
  /** The template of an event and the facts of the event. Null for a message that was sent by hand. */
  template: string | null;
  facts: Record<string, unknown> | null;
  created_at: Date;
};

export type NewMessage = Omit<InboxMessage, 'id'> & { readonly event_id: number | null; readonly staff_id: number };
