import { LedgerRefusal, type Trade } from './ledger.ts';
import { type Answered, type PaymentService, type ServiceName, type ShopAnswer, serviceNames } from './service.ts';

type Cashiers = Readonly<Record<ServiceName, PaymentService & { notify: (paymentNo: string) => Promise<ShopAnswer> }>>;

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const html = (status: number, body: string, headers: Record<string, string> = {}): Answered => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'", ...headers },
  body: `<!doctype html><meta charset="utf-8"><title>Payment simulator</title>${body}\n`,
});

const line = (name: ServiceName, { payment_no, title, amount, currency, status }: Trade) =>
  `<li>${name} ${escaped(payment_no)}: ${escaped(title)}, ${(amount / 100).toFixed(2)} ${escaped(currency)}, ${status}` +
  (status === 'open'
    ? ` <form method="post" action="/cashier/${name}/${encodeURIComponent(payment_no)}"><button>Pay</button></form>`
    : '') +
  '</li>';

/** The payments that the list shows. */
const shown = 50;

/**
 * The page of a shopper: `GET /` lists payments, `GET /cashier/<service>/<payment_no>` shows one, and POST to the same address pays
 * it. `notify`: the notice is sent to the shop at once.
 */
export async function cashierAnswer(
  services: Cashiers,
  { method, target }: { method: string; target: string },
  notify: boolean,
): Promise<Answered> {
  const path = target.split('?', 1)[0]!;
  if (path === '/') {
    const lines = serviceNames.flatMap((name) =>
      services[name].ledger
        .trades()
        .slice(-shown)
        .map((trade) => line(name, trade)),
    );
    return html(200, `<h1>Payments</h1><ul>${lines.join('')}</ul>`);
  }
  const [, name, number] = /^\/cashier\/(wechat|alipay|stripe)\/([\w-]+)$/.exec(path) ?? [];
  if (!name || !number) return html(404, '<p>There is no such page.</p>');
  const service = services[name as ServiceName];
  try {
    if (method === 'POST') {
      service.pay(number);
      const answer = notify ? await service.notify(number) : null;
      const { return_url } = service.ledger.trade(number);
      if (return_url !== '') return html(303, '', { location: return_url });
      return html(200, `<p>Paid.${answer ? ` The shop answered ${answer.status}.` : ''}</p>`);
    }
    return html(200, `<ul>${line(service.name, service.ledger.trade(number))}</ul>`);
  } catch (error) {
    if (error instanceof LedgerRefusal) return html(404, `<p>${error.code}</p>`);
    throw error;
  }
}
