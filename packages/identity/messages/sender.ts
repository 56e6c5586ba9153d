import { defineRegistry } from '@tradepost/module';
import type { Config, Runtime, Settings } from '@tradepost/runtime';

export const messageChannels = ['sms', 'wx', 'chat_app'] as const;
export type MessageChannel = (typeof messageChannels)[number];

/** A message without its text. */
export type Outgoing = {
  /** The same at each attempt, so that a receiver can recognise a repeated message. */
  readonly id: string;
  /** The name of its notice. */
  readonly notice: string;
  readonly phone: string;
  readonly params: Readonly<Record<string, string>>;
  /** Only for a login code: the end of its validity. */
  readonly expires_at?: string;
};

/** `params` are in the order of the notice. `text` is in both languages, because the language of the receiver is not known. */
export type ShopperMessage = Outgoing & { readonly text: string };

export type SenderFacts = {
  readonly settings: Pick<Settings, 'get'>;
  readonly config: Pick<Config, 'production'>;
};
export type SenderRuntime = Pick<Runtime, 'settings' | 'config' | 'log' | 'now'>;

export type OpenedSender = {
  /**
   * Sends one message over the network, so it must not run within a transaction. Throws `SendError`. It may be called twice
   * for one message, because a worker can end after the message was sent and before that was recorded.
   */
  send(message: ShopperMessage, signal: AbortSignal): Promise<void>;
};

/** A way to send messages to shoppers. Modules add entries to `messageSenders`, and list the settings of the sender. */
export type MessageSender = {
  /** For the channel sms: the value of the setting sms.provider that chooses this sender. */
  readonly name: string;
  readonly channel: MessageChannel;
  /** The settings that a message of this notice needs and that are not set. Empty when the sender is ready. */
  missing(facts: SenderFacts, notice: string): readonly string[];
  /** Called once. The sender reads its settings at each message, so a change needs no restart. */
  open(runtime: SenderRuntime): OpenedSender;
};

export const messageSenders = defineRegistry<MessageSender>('identity.message_senders', { isStatic: true });

/**
 * A message was not sent, or it is not known whether it was. A permanent error is not retried. The text is stored and logged, so
 * it has no phone, no code and no address.
 */
export class SendError extends Error {
  readonly permanent: boolean;

  constructor(message: string, { permanent = false } = {}) {
    super(message);
    this.name = 'SendError';
    this.permanent = permanent;
  }
}
