import { defineService } from '@tradepost/module';
import { type Runtime, type Settings, startAtZero } from '@tradepost/runtime';
import { messageMetrics } from './message-metrics.ts';
import { smsProvider } from './message-settings.ts';
import { loginCodeNotice, noticeText, type ShopperNotice } from './notices.ts';
import { isPhone } from './phone.ts';
import {
  type MessageChannel,
  type MessageSender,
  type OpenedSender,
  type Outgoing,
  SendError,
  type SenderFacts,
  type SenderRuntime,
} from './sender.ts';
import { ownSenders } from './senders/own-senders.ts';

/** The senders and notices of the modules that run. */
export type MessageParts = {
  readonly senders: readonly MessageSender[];
  readonly notices: readonly ShopperNotice[];
};

/** What prevents a message of a notice on a channel: no sender is chosen or exists, or settings are missing. */
export type NotReady = 'no_sender' | readonly string[];

export type Messenger = {
  /** Whether a module that runs has this notice. */
  has(notice: string): boolean;
  /** Null when a message of this notice can be sent on the channel. */
  notReady(channel: MessageChannel, notice: string): NotReady | null;
  /** Sends one message over the network, with the rules of `OpenedSender.send`. */
  send(channel: MessageChannel, message: Outgoing, signal: AbortSignal): Promise<void>;
};

/** Sends messages to shoppers. */
export const messengerService = defineService<Messenger>('identity.messenger');

/** The sender of a channel. For sms it is the one that sms.provider names. */
function senderOf({ senders }: MessageParts, { settings }: SenderFacts, channel: MessageChannel) {
  const ofChannel = senders.filter((sender) => sender.channel === channel);
  return channel === 'sms' ? ofChannel.find(({ name }) => name === settings.get(smsProvider)) : ofChannel[0];
}

export function notReadyFor(
  parts: MessageParts,
  facts: SenderFacts,
  channel: MessageChannel,
  notice: string,
): NotReady | null {
  const sender = senderOf(parts, facts, channel);
  if (!sender) return 'no_sender';
  const missing = sender.missing(facts, notice);
  return missing.length > 0 ? missing : null;
}

export const notReadyText = (channel: MessageChannel, notReady: NotReady): string =>
  notReady === 'no_sender' ? `no sender is set up for ${channel}` : `not set: ${notReady.join(', ')}`;

/**
 * The parts by the settings of their process. A function that runs within a transaction of another package has the runtime
 * and no access to registries.
 */
const partsOf = new WeakMap<Settings, MessageParts>();

/** In a process that has opened no modules, such as a command, only the senders of this package are known. */
export const messagePartsOf = ({ settings }: Pick<Runtime, 'settings'>): MessageParts =>
  partsOf.get(settings) ?? { senders: ownSenders, notices: [loginCodeNotice] };

/** The values of a message in the order of its notice. */
function orderedParams({ name, params }: ShopperNotice, values: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    params.map((param) => {
      const value = values[param];
      if (value === undefined) throw new SendError(`${name} has no value for ${param}`, { permanent: true });
      return [param, value];
    }),
  );
}

/** Opens the senders. Throws when two have the same name, and when two notices have. */
export function openMessenger(runtime: SenderRuntime & Pick<Runtime, 'metrics'>, parts: MessageParts): Messenger {
  const notices = new Map(parts.notices.map((notice) => [notice.name, notice]));
  if (notices.size !== parts.notices.length) throw new Error('two modules have the same notice');
  const names = parts.senders.map(({ name }) => name);
  if (new Set(names).size !== names.length) throw new Error('two modules have the same message sender');
  partsOf.set(runtime.settings, parts);
  const opened = new Map<MessageSender, OpenedSender>(parts.senders.map((sender) => [sender, sender.open(runtime)]));
  const { messages } = messageMetrics(runtime.metrics);
  const outcomes = ['sent', 'retry', 'failed', 'skipped'];
  startAtZero(
    messages,
    [...notices.keys()].flatMap((notice) => outcomes.map((outcome) => ({ notice, outcome }))),
  );

  async function send(channel: MessageChannel, message: Outgoing, signal: AbortSignal): Promise<void> {
    const notice = notices.get(message.notice);
    if (!notice) throw new SendError('no module has this notice', { permanent: true });
    if (!isPhone(message.phone)) throw new SendError('the receiver has no phone number', { permanent: true });
    const notReady = notReadyFor(parts, runtime, channel, message.notice);
    // An operator may just be changing the settings.
    if (notReady) throw new SendError(notReadyText(channel, notReady));
    const params = orderedParams(notice, message.params);
    const sender = opened.get(senderOf(parts, runtime, channel)!)!;
    await sender.send({ ...message, params, text: noticeText(notice, params) }, signal);
  }

  return {
    has: (notice) => notices.has(notice),
    notReady: (channel, notice) => notReadyFor(parts, runtime, channel, notice),
    async send(channel, message, signal) {
      const count = (outcome: string) => messages.inc({ notice: message.notice, outcome });
      try {
        await send(channel, message, signal);
        count('sent');
      } catch (error) {
        count(isPermanent(error) ? 'failed' : 'retry');
        throw error;
      }
    },
  };
}

/** Whether a further attempt to send the message is of no use. */
export const isPermanent = (error: unknown): boolean => error instanceof SendError && error.permanent;

/** The text of a failure as it is stored and logged. Only a `SendError` is quoted, because it has no phone and no code. */
export const failureText = (error: unknown): string =>
  error instanceof SendError
    ? error.message.slice(0, 500)
    : `the sender failed (${(error as Error)?.name ?? 'unknown'})`;
