import { toMinor } from '@tradepost/core';
import type { Resource } from '@tradepost/http';
import { type NoticeReceivers, paymentErrors } from '@tradepost/orders';
import { z } from 'zod';
import { type AlipayApi, fromChinaTime } from './alipay-api.ts';

const notice = z.object({
  out_trade_no: z.string().max(64),
  trade_no: z.string().max(64),
  trade_status: z.string().max(32),
  total_amount: z.string().regex(/^\d{1,9}(\.\d{1,2})?$/),
  gmt_payment: z.string().optional(),
});

const answer = (text: 'success' | 'fail') =>
  new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });

/** A payment keeps TRADE_SUCCESS when a part of it is refunded, and its notice then repeats the payment. */
const paid = new Set(['TRADE_SUCCESS', 'TRADE_FINISHED']);

/** The endpoint for notices. Alipay repeats a notice until it is answered with the text `success`. */
export const noticeResource = (api: AlipayApi, receivers: NoticeReceivers, path: string): Resource => ({
  method: 'POST',
  path,
  summary: 'Signed notice of Alipay about a payment; it may be repeated',
  contentType: 'text/plain',
  async handle(request) {
    try {
      const fields = Object.fromEntries(new URLSearchParams(await request.text()));
      if (!api.isGenuine(fields)) throw paymentErrors.signature_invalid();
      const { out_trade_no: payment_no, trade_no, trade_status, total_amount, gmt_payment } = notice.parse(fields);
      // Refunds are answered when they are requested. Other states change nothing.
      if (paid.has(trade_status)) {
        const report = { payment_no, trade_no, amount: toMinor(Number(total_amount)), currency: 'CNY' };
        await receivers.payment({ ...report, status: 'succeeded', paid_at: fromChinaTime(gmt_payment) });
      }
      return answer('success');
    } catch (error) {
      receivers.refused(error);
      return answer('fail');
    }
  },
});
