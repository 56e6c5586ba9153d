import { randomInt } from 'node:crypto';

export type Refund = {
  refund_no: string;
  refund_id: string;
  payment_no: string;
  amount: number;
  currency: string;
  status: 'processing' | 'succeeded' | 'failed';
  notify_url: string;
  at: Date;
};
export type Trade = {
  payment_no: string;
  /** The number of the service, given when it is paid. Empty before. */
  trade_no: string;
  title: string;
  /** In minor units. */
  amount: number;
  currency: string;
  status: 'open' | 'paid' | 'closed';
  channel: string;
  notify_url: string;
  return_url: string;
  expires_at: Date | null;
  paid_at: Date | null;
};

/** A service refuses a call for a reason of its own. `code` is the name in its protocol. */
export class LedgerRefusal extends Error {
  readonly code: 'unknown' | 'paid' | 'closed' | 'not_paid' | 'exceeds' | 'different';
  constructor(code: LedgerRefusal['code']) {
    super(code);
    this.code = code;
  }
}

const maxTrades = 100_000;

/** The payments and refunds of one service, as its console would show them. */
export function openLedger(now: () => Date) {
  const trades = new Map<string, Trade>();
  const refunds = new Map<string, Refund>();
  const numberOf = (prefix: string) => `${prefix}${now().getTime()}${String(randomInt(1_000_000)).padStart(6, '0')}`;
  const trade = (paymentNo: string): Trade => {
    const found = trades.get(paymentNo);
    if (!found) throw new LedgerRefusal('unknown');
    return found;
  };
  const refundedOf = (paymentNo: string) =>
    [...refunds.values()]
      .filter((one) => one.payment_no === paymentNo && one.status !== 'failed')
      .reduce((sum, one) => sum + one.amount, 0);
  return {
    trades: () => [...trades.values()],
    refunds: () => [...refunds.values()],
    trade,
    byTradeNo: (tradeNo: string) =>
      trade([...trades.values()].find((one) => one.trade_no === tradeNo)?.payment_no ?? ''),
    refund(refundNo: string): Refund {
      const found = refunds.get(refundNo);
      if (!found) throw new LedgerRefusal('unknown');
      return found;
    },
    refundedOf,
    /** Opens a payment, or returns the open one. Refused when it is paid or closed, or was opened with other values. */
    open(given: Omit<Trade, 'trade_no' | 'status' | 'paid_at'>): Trade {
      const known = trades.get(given.payment_no);
      if (known?.status === 'paid') throw new LedgerRefusal('paid');
      if (known?.status === 'closed') throw new LedgerRefusal('closed');
      const isSame = (of: Trade) =>
        of.amount === given.amount && of.channel === given.channel && of.title === given.title;
      if (known && !isSame(known)) throw new LedgerRefusal('different');
      if (trades.size >= maxTrades) throw new Error(`the simulator keeps at most ${maxTrades} payments`);
      const opened: Trade = { ...given, trade_no: '', status: 'open', paid_at: null };
      trades.set(given.payment_no, opened);
      return opened;
    },
    /** The shopper pays. `amount` and `currency` replace what was requested, as no real service would. */
    pay(paymentNo: string, prefix: string, more: Partial<Pick<Trade, 'amount' | 'currency'>> = {}): Trade {
      const of = trade(paymentNo);
      if (of.status === 'closed') throw new LedgerRefusal('closed');
      if (of.status === 'paid') return of;
      return Object.assign(of, more, { status: 'paid', trade_no: numberOf(prefix), paid_at: now() });
    },
    /** Removes a payment, as if it had been made at another account. */
    forget: (paymentNo: string) => trades.delete(paymentNo),
    /** Refused when it is paid or closed. */
    close(paymentNo: string): Trade {
      const of = trade(paymentNo);
      if (of.status !== 'open') throw new LedgerRefusal(of.status);
      return Object.assign(of, { status: 'closed' as const });
    },
    /** Refunds a part of a payment. The same number again returns the first refund. */
    startRefund(
      given: Pick<Refund, 'refund_no' | 'payment_no' | 'amount' | 'notify_url' | 'status'>,
      prefix: string,
    ): Refund {
      const known = refunds.get(given.refund_no);
      if (known && known.amount !== given.amount) throw new LedgerRefusal('different');
      if (known) return known;
      const of = trade(given.payment_no);
      if (of.status !== 'paid') throw new LedgerRefusal('not_paid');
      if (refundedOf(of.payment_no) + given.amount > of.amount) throw new LedgerRefusal('exceeds');
      const made: Refund = { ...given, refund_id: numberOf(prefix), currency: of.currency, at: now() };
      refunds.set(given.refund_no, made);
      return made;
    },
    settleRefund(refundNo: string, status: 'succeeded' | 'failed'): Refund {
      return Object.assign(this.refund(refundNo), { status, at: now() });
    },
  };
}
export type Ledger = ReturnType<typeof openLedger>;
