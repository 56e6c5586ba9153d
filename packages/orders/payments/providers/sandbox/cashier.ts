import { randomBytes } from 'node:crypto';
import { isoInZone, type Locale, toWire } from '@tradepost/core';
import { defineRoute, type Resource, type Route, requestLocale } from '@tradepost/http';
import { timeZone } from '@tradepost/runtime';
import { orderErrors } from '../../../errors.ts';
import { signedHeaders } from '../../pay-signature.ts';
import type { PaymentOfOrder } from '../../payment-rules.ts';
import { cashierBody, cashierParams, payCallbackAnswer } from '../../payment-schemas.ts';
import { selectPayment } from '../../payment-store.ts';
import type { ProviderRuntime, ReceiveNotice } from '../provider.ts';
import { sandboxCashierUrl, sandboxName, sandboxSecret } from './settings.ts';

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
    refunding: 'The money goes back',
    refunded: 'The money went back',
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

const pagePolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

function pageOf(payment: PaymentOfOrder | undefined, locale: Locale): string {
  const say = texts[locale];
  const head = `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${say.title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.2rem } .amount { font-size: 2.2rem; margin: .5rem 0 } small { color: #666; overflow-wrap: anywhere }
button { font: inherit; padding: .6rem 1.2rem; margin: 1rem .5rem 0 0; border: 1px solid #888; border-radius: .4rem; background: #fff }
button[value=succeeded] { background: #1a7f37; border-color: #1a7f37; color: #fff }
</style>
</head>
<body>
<h1>${say.title}</h1>`;
  if (!payment) return `${head}\n<p role="alert">${say.missing}</p>\n</body>\n</html>\n`;
  const { payment_no, order_no, amount, currency, status, return_url } = payment;
  const buttons = `<p><button value="succeeded">${say.pay}</button><button value="failed">${say.fail}</button></p>`;
  return `${head}
<p class="amount">${toWire(amount).toFixed(2)} ${escaped(currency)}</p>
<p><small>${say.order} ${escaped(order_no)}<br>${say.payment} ${escaped(payment_no)}</small></p>
<p id="status" role="status" data-payment="${escaped(payment_no)}" data-texts="${escaped(JSON.stringify(say))}">${say[status]}</p>
${status === 'pending' ? buttons : ''}
${return_url ? `<p><a id="back" rel="noreferrer" href="${escaped(return_url)}">${say.back}</a></p>` : ''}
<p><small>${say.note}</small></p>
<script src="/pay/cashier.js"></script>
</body>
</html>
`;
}

const script = `const status = document.getElementById('status');
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

/** A payment that our own page may settle: of the sandbox, in a shop that sends its shoppers to no other page. */
async function cashierPayment({ sql, settings, now }: Omit<ProviderRuntime, 'config'>, paymentNo: string) {
  if (settings.get(sandboxCashierUrl) !== '') return undefined;
  const payment = await selectPayment(sql, paymentNo, null, now());
  return payment?.provider === sandboxName ? payment : undefined;
}

/** The page to which the sandbox sends a shopper, for development: its button sends the notice that a gateway would send. */
export function cashierResources(runtime: Omit<ProviderRuntime, 'config'>): Resource[] {
  return [
    {
      path: '/pay/sandbox/:payment_no',
      summary: 'Cashier page of the payment provider sandbox; not in production',
      contentType: 'text/html',
      async handle(request, { payment_no = '' }) {
        const lang = new URL(request.url).searchParams.get('lang');
        const locale = requestLocale(request, lang, runtime.settings);
        const asked = cashierParams.safeParse({ payment_no });
        const payment = asked.success ? await cashierPayment(runtime, asked.data.payment_no) : undefined;
        return new Response(pageOf(payment, locale), {
          status: payment ? 200 : 404,
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'content-security-policy': pagePolicy,
            'cache-control': 'no-store',
            'x-content-type-options': 'nosniff',
            'referrer-policy': 'no-referrer',
          },
        });
      },
    },
    {
      path: '/pay/cashier.js',
      summary: 'Script of the cashier page',
      contentType: 'text/javascript',
      handle: () => new Response(script, { headers: { 'content-type': 'text/javascript; charset=utf-8' } }),
    },
  ];
}

export function cashierRoutes(runtime: ProviderRuntime, receive: ReceiveNotice): Route[] {
  const { settings, now } = runtime;
  return [
    defineRoute({
      method: 'POST',
      path: '/api/pay/sandbox/:payment_no',
      auth: 'public',
      tag: 'Payments',
      summary: 'The cashier page of the sandbox sends its signed notice; not in production',
      params: cashierParams,
      body: cashierBody,
      response: payCallbackAnswer,
      refuses: [orderErrors.payment_not_found, orderErrors.provider_not_ready, orderErrors.trade_conflict],
      repeat: 'natural',
      statements: 11,
      async handle({ params, body }) {
        const payment = await cashierPayment(runtime, params.payment_no);
        if (!payment) throw orderErrors.payment_not_found();
        const secret = settings.get(sandboxSecret);
        if (secret === '') throw orderErrors.provider_not_ready({ provider: sandboxName, missing: sandboxSecret.key });
        const at = now();
        const notice = {
          ...{ provider: sandboxName, payment_no: payment.payment_no, amount: toWire(payment.amount) },
          ...{ currency: payment.currency, status: body.status, paid_at: isoInZone(at, settings.get(timeZone)) },
          // The page is one purchase: pressing twice is the same money.
          trade_no: `SBX-${payment.payment_no}`,
        };
        const text = JSON.stringify(notice);
        const message = {
          ...{ timestamp: String(Math.trunc(at.getTime() / 1000)), nonce: randomBytes(16).toString('hex') },
          body: text,
        };
        const taken = await receive(notice, new Headers(signedHeaders(secret, message)), Buffer.from(text));
        return { received: true as const, ...taken };
      },
    }),
  ];
}
