import { kdniaoSign, kuaidi100Sign } from '@tradepost/fulfilment';
import { z } from 'zod';
import type { ServiceName } from './behaviour.ts';

export type Accounts = {
  kuaidi100: { customer: string; key: string };
  kdniao: { ebusinessId: string; apiKey: string };
};

/** A query that a service has understood. `company` is the code of the service. */
export type Query = { readonly tracking_no: string; readonly company: string; readonly phone: string };
type Answer = Readonly<Record<string, unknown>>;

/** One carrier service: its path, the check of its signature, and its answers. */
export type Service = {
  readonly name: ServiceName;
  readonly path: string;
  /** The query of a form; or the answer that refuses it. */
  read(form: URLSearchParams, accounts: Accounts): { query: Query } | { refusal: Answer };
  /** A recorded answer as the answer to this query. */
  addressed(answer: Answer, query: Query): Answer;
  /** The answer when nothing is known of a shipment. */
  unknown(query: Query): Answer;
  /** The companies whose shipments are answered only with a phone number. */
  readonly asksPhone: readonly string[];
};

function parsed<T extends z.ZodType>(schema: T, text: string | null): z.output<T> | undefined {
  try {
    return schema.safeParse(JSON.parse(text ?? '')).data;
  } catch {
    return undefined;
  }
}

const param = z.object({ com: z.string().min(1), num: z.string().min(1), phone: z.string(), resultv2: z.literal('1') });
const kuaidi100Refusal = (returnCode: string, message: string): Answer => ({ result: false, returnCode, message });

const kuaidi100: Service = {
  name: 'kuaidi100',
  path: '/poll/query.do',
  asksPhone: ['shunfeng'],
  read(form, { kuaidi100: account }) {
    const text = form.get('param') ?? '';
    if (form.get('customer') !== account.customer || form.get('sign') !== kuaidi100Sign(text, account))
      return { refusal: kuaidi100Refusal('503', '验证签名失败') };
    const fields = parsed(param, text);
    if (!fields) return { refusal: kuaidi100Refusal('400', '参数错误') };
    return { query: { tracking_no: fields.num, company: fields.com, phone: fields.phone } };
  },
  addressed: (answer, { tracking_no, company }) =>
    'nu' in answer ? { ...answer, nu: tracking_no, com: company } : answer,
  unknown: () => kuaidi100Refusal('500', '查询无结果，请隔段时间再查'),
};

const requestData = z.object({
  ShipperCode: z.string().min(1),
  LogisticCode: z.string().min(1),
  CustomerName: z.string().optional(),
});
const kdniaoRefusal = (EBusinessID: string, Reason: string): Answer => ({ EBusinessID, Success: false, Reason });

const kdniao: Service = {
  name: 'kdniao',
  path: '/Ebusiness/EbusinessOrderHandle.aspx',
  asksPhone: ['SF'],
  read(form, { kdniao: account }) {
    const text = form.get('RequestData') ?? '';
    const isSigned = form.get('DataSign') === kdniaoSign(text, account.apiKey);
    if (form.get('EBusinessID') !== account.ebusinessId || !isSigned)
      return { refusal: kdniaoRefusal(form.get('EBusinessID') ?? '', '非法参数') };
    const fields = parsed(requestData, text);
    if (!fields || form.get('RequestType') !== '1002' || form.get('DataType') !== '2')
      return { refusal: kdniaoRefusal(account.ebusinessId, '参数格式错误') };
    const { LogisticCode, ShipperCode, CustomerName = '' } = fields;
    return { query: { tracking_no: LogisticCode, company: ShipperCode, phone: CustomerName } };
  },
  addressed: (answer, { tracking_no, company }) => ({ ...answer, LogisticCode: tracking_no, ShipperCode: company }),
  unknown: ({ tracking_no, company }) => ({
    ...{ ShipperCode: company, LogisticCode: tracking_no, Success: false, Reason: '暂无轨迹信息', Traces: [] },
  }),
};

export const services: readonly Service[] = [kuaidi100, kdniao];
