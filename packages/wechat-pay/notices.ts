import { AppError } from '@tradepost/core';
import type { Resource } from '@tradepost/http';
import { type NoticeReceivers, paymentErrors } from '@tradepost/orders';
import { z } from 'zod';
import { isPaid, paymentRecord, refundNotice, refundStatus, transaction } from './transactions.ts';
import type { WechatApi } from './wechat-api.ts';

const noticeMs = 10_000;

const notice = z.object({
  event_type: z.string().max(64),
  resource: z.object({
    algorithm: z.literal('AEAD_AES_256_GCM'),
    ciphertext: z.string(),
    nonce: z.string(),
    associated_data: z.string().optional(),
  }),
});

const answer = (status: number, code: 'SUCCESS' | 'FAIL', message: string) =>
  new Response(JSON.stringify({ code, message }), { status, headers: { 'content-type': 'application/json' } });

/** Processes the content of a verified notice. Events that are not about payments and refunds are accepted. */
async function process(event: string, content: unknown, receivers: NoticeReceivers, mchId: string): Promise<void> {
  const ours = ({ mchid }: { mchid: string }) => {
    if (mchid !== mchId) throw paymentErrors.signature_invalid();
  };
  if (event.startsWith('TRANSACTION.')) {
    const of = transaction.parse(content);
    ours(of);
    if (!isPaid(of)) return;
    const { payment_no, trade_no, amount, currency, at: paid_at } = paymentRecord(of);
    await receivers.payment({ payment_no, trade_no, amount, currency, status: 'succeeded', paid_at });
  } else if (event.startsWith('REFUND.')) {
    const of = refundNotice.parse(content);
    ours(of);
    const status = refundStatus(of.refund_status);
    if (status === 'pending') return;
    const { refund: amount, currency } = of.amount;
    const reason = status === 'failed' ? `WeChat Pay reports the refund as ${of.refund_status}` : '';
    await receivers.refund({
      refund_no: of.out_refund_no,
      amount,
      currency,
      status,
      provider_ref: of.refund_id,
      reason,
    });
  }
}

/** The endpoint for notices. WeChat Pay repeats a notice until it is answered with 200 or 204. */
export const noticeResource = (
  api: WechatApi,
  receivers: NoticeReceivers,
  { path, mchId }: { path: string; mchId: () => string },
): Resource => ({
  method: 'POST',
  path,
  summary: 'Signed and encrypted notice of WeChat Pay about a payment or a refund; it may be repeated',
  contentType: 'application/json',
  async handle(request) {
    try {
      const body = await request.text();
      await api.verify(request.headers, body, AbortSignal.timeout(noticeMs));
      const { event_type, resource } = notice.parse(JSON.parse(body));
      await process(event_type, JSON.parse(api.opened(resource)), receivers, mchId());
      return answer(200, 'SUCCESS', '成功');
    } catch (error) {
      receivers.refused(error);
      if (error instanceof AppError) return answer(error.code === 403 ? 401 : 500, 'FAIL', error.messageIn('zh-CN'));
      return answer(500, 'FAIL', '失败');
    }
  },
});
