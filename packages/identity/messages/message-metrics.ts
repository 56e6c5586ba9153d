import { defineMetrics } from '@tradepost/runtime';

export const messageMetrics = defineMetrics(({ counter }) => ({
  messages: counter({
    name: 'shopper_messages_total',
    help: 'Attempts to send messages to shoppers, by notice and outcome: sent, retry (not sent), failed (refused for good) or skipped',
    labelNames: ['notice', 'outcome'],
  }),
}));
