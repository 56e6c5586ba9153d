import { smsProvider } from '../message-settings.ts';
import { maskPhone } from '../phone.ts';
import { type MessageSender, SendError, type SenderFacts } from '../sender.ts';

const missing = ({ config }: Pick<SenderFacts, 'config'>) =>
  config.production ? [`${smsProvider.key} with a value for production`] : [];

/** Writes messages to the log. For development only: the log would have login codes. */
export const logSender: MessageSender = {
  name: 'log',
  channel: 'sms',
  missing,
  open: ({ log, config }) => ({
    async send({ id, notice, phone, text }) {
      if (config.production)
        throw new SendError('messages are not written to the log in production', { permanent: true });
      log.info({ message: id, notice, phone: maskPhone(phone), text }, 'a message to a shopper');
    },
  }),
};

/** As `log`. Login codes are returned to the client as dev_code instead (login/sms-codes.ts). */
export const testSender: MessageSender = { ...logSender, name: 'test' };
