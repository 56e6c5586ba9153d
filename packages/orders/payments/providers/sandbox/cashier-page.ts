import { type Locale, toWire } from '@tradepost/core';
import { html } from '@tradepost/http';
import type { PaymentOfOrder } from '../../payment-rules.ts';

const texts = {
  en: {
    title: 'Sandbox cashier',
    note: 'Development only: no money moves.',
    order: 'Order',
    payment: 'Payment',
    pay: 'Pay',
    fail: 'Let it fail',
    back: 'Back to the shop',
    missing: 'There is no such payment.',
    pending: 'Waiting for payment',
    succeeded: 'Paid',
    failed: 'The payment failed',
    closed: 'This payment is closed',
    refunding: 'The money is being refunded',
    refunded: 'The money was refunded',
  },
  'zh-CN': {
    title: '沙箱收银台',
    note: '仅供开发使用，不发生真实扣款。',
    order: '订单',
    payment: '支付单',
    pay: '支付',
    fail: '模拟失败',
    back: '返回商城',
    missing: '支付单不存在。',
    pending: '待支付',
    succeeded: '支付成功',
    failed: '支付失败',
    closed: '支付单已关闭',
    refunding: '退款处理中',
    refunded: '已退款',
  },
} as const;

/** The Content-Security-Policy of the page: its own script and inline styles, nothing else. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The payment of a subject has no order. */
type ShownPayment = Pick<PaymentOfOrder, 'payment_no' | 'order_no' | 'amount' | 'currency' | 'status' | 'return_url'>;

/** The cashier page of a payment; without a payment, a page that says so. */
export function cashierPage(payment: ShownPayment | undefined, locale: Locale): string {
  const labels = texts[locale];
  const head = html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${labels.title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.2rem } .amount { font-size: 2.2rem; margin: .5rem 0 } small { color: #666; overflow-wrap: anywhere }
button { font: inherit; padding: .6rem 1.2rem; margin: 1rem .5rem 0 0; border: 1px solid #888; border-radius: .4rem; background: #fff }
button[value=succeeded] { background: #1a7f37; border-color: #1a7f37; color: #fff }
</style>
</head>
<body>
<h1>${labels.title}</h1>`;
  if (!payment) return html`${head}\n<p role="alert">${labels.missing}</p>\n</body>\n</html>\n`.html;
  const { payment_no, order_no, amount, currency, status, return_url } = payment;
  const buttons = html`<p><button value="succeeded">${labels.pay}</button><button value="failed">${labels.fail}</button></p>`;
  const link = html`<p><a id="back" rel="noreferrer" href="${return_url}">${labels.back}</a></p>`;
  return html`${head}
<p class="amount">${toWire(amount).toFixed(2)} ${currency}</p>
<p><small>${order_no === '' ? '' : html`${labels.order} ${order_no}<br>`}${labels.payment} ${payment_no}</small></p>
<p id="status" role="status" data-payment="${payment_no}" data-texts="${JSON.stringify(labels)}">${labels[status]}</p>
${status === 'pending' ? buttons : ''}
${return_url ? link : ''}
<p><small>${labels.note}</small></p>
<script src="/pay/cashier.js"></script>
</body>
</html>
`.html;
}

/** When a button is pressed, sends its outcome to the shop and shows the answer. */
export const cashierScript = `const status = document.getElementById('status');
const texts = JSON.parse(status.dataset.texts);
const buttons = document.querySelectorAll('button');
for (const button of buttons) button.addEventListener('click', async () => {
  for (const other of buttons) other.disabled = true;
  try {
    const answer = await (await fetch('/api/pay/sandbox/' + encodeURIComponent(status.dataset.payment), {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ status: button.value }),
    })).json();
    status.textContent = answer.code === 0 ? texts[answer.data.status] : answer.message;
    if (answer.code !== 0) throw new Error(answer.message);
    const back = document.getElementById('back');
    if (back && answer.data.status === 'succeeded') setTimeout(() => location.assign(back.href), 1200);
  } catch {
    for (const other of buttons) other.disabled = false;
  }
});
`;
