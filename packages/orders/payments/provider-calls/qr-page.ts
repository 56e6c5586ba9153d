import { type Locale, toWire } from '@tradepost/core';
import { type Html, html } from '@tradepost/http';
import { encode } from 'uqr';
import type { PaymentAtProvider } from './provider-call-store.ts';

const texts = {
  en: {
    title: 'Payment',
    scan: 'Scan this code with the app of the payment service.',
    order: 'Order',
    payment: 'Payment',
    paid: 'Paid. You can close this page.',
  },
  'zh-CN': {
    title: '支付',
    scan: '请使用支付应用扫描二维码。',
    order: '订单',
    payment: '支付单',
    paid: '支付成功，可以关闭此页面。',
  },
} as const;

/** Inline styles and nothing else. */
export const qrPagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The page looks for the payment this often, in seconds. */
const refreshSeconds = 5;
const quietModules = 4;

/** The QR code of a text, as an image in the page: one path, a square for each dark module. */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: quietModules });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR"><rect width="${size}" height="${size}" fill="#fff"/><path d="${squares.join('')}"/></svg>`;
}

type Shown = Pick<PaymentAtProvider, 'payment_no' | 'order_no' | 'amount' | 'currency'>;

/** The page of a payment with a QR code. It asks again by itself; `codeText` null: the payment is paid. */
export function qrPage({ payment_no, order_no, amount, currency }: Shown, codeText: string | null, locale: Locale) {
  const labels = texts[locale];
  const refresh = html`<meta http-equiv="refresh" content="${refreshSeconds}">`;
  return html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${codeText === null ? '' : refresh}
<title>${labels.title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 8vh auto; padding: 0 1rem; text-align: center; color: #222 }
.amount { font-size: 2.2rem; margin: .5rem 0 } small { color: #666; overflow-wrap: anywhere } svg { width: 100%; max-width: 18rem }
</style>
</head>
<body>
<p class="amount">${toWire(amount).toFixed(2)} ${currency}</p>
${codeText === null ? html`<p role="status">${labels.paid}</p>` : html`${qrCode(codeText)}\n<p>${labels.scan}</p>`}
<p><small>${order_no === '' ? '' : html`${labels.order} ${order_no}<br>`}${labels.payment} ${payment_no}</small></p>
</body>
</html>
`.html;
}
