import { createHash } from 'node:crypto';
import { type ConfigPage, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { apiUrlRule, type CarrierDriver, type CarrierStatus, formRequest, isApiUrl } from './driver.ts';
import { carrierText, isAbout, looseText, nodesOf } from './nodes.ts';

const key = (name: string) => `logistics_kuaidi100.${name}`;

const page: ConfigPage = { plugin: 'logistics_kuaidi100', title: { en: 'Kuaidi100', 'zh-CN': '快递100' }, sort: 21 };
const apiUrl = setting(
  key('api_url'),
  z.string().max(500).refine(isApiUrl, { error: apiUrlRule.en }),
  'https://poll.kuaidi100.com/poll/query.do',
  'address of the query service of kuaidi100',
  { field: { page, label: { en: 'Query URL', 'zh-CN': '查询接口地址' }, rule: apiUrlRule, serviceAddress: {} } },
);
const customer = setting(key('customer'), z.string().max(200), '', 'customer code of the account at kuaidi100', {
  field: { page, label: { en: 'Customer', 'zh-CN': 'Customer' }, required: true },
});
const authKey = setting(key('key'), z.string().max(500), '', 'authorization key of the account at kuaidi100', {
  secret: true,
  field: { page, label: { en: 'Key', 'zh-CN': '授权 Key' }, required: true },
});

/** Upper-case hex MD5 over the query, the key and the customer. The protocol prescribes MD5. */
export const kuaidi100Sign = (param: string, account: { key: string; customer: string }): string =>
  createHash('md5')
    .update(param + account.key + account.customer)
    .digest('hex')
    .toUpperCase();

/** The states of the service. Every other state counts as shipped. */
const statuses: Readonly<Record<string, CarrierStatus>> = {
  0: 'in_transit',
  1: 'in_transit',
  2: 'exception',
  3: 'signed',
  4: 'exception',
  5: 'in_transit',
};

const answerFields = z.object({
  status: looseText(),
  state: looseText(),
  message: looseText(),
  returnCode: looseText(),
  nu: looseText(),
  data: z.array(z.unknown()).catch([]),
});
const nodeFields = z.looseObject({
  ftime: looseText(),
  time: looseText(),
  context: looseText(),
  location: looseText(),
  status: looseText(),
  statusCode: looseText(),
});

export const kuaidi100: CarrierDriver = {
  name: 'kuaidi100',
  aliases: ['logistics_kuaidi100'],
  companyCodes: {
    SF: 'shunfeng',
    ZTO: 'zhongtong',
    YTO: 'yuantong',
    STO: 'shentong',
    YD: 'yunda',
    JD: 'jd',
    EMS: 'ems',
    DBL: 'debangwuliu',
    JT: 'jtexpress',
  },
  apiUrl,
  account: [customer, authKey],
  request(settings, { company, tracking_no, phone }) {
    const param = JSON.stringify({ com: company, num: tracking_no, phone, resultv2: '1' });
    const account = { key: settings.get(authKey), customer: settings.get(customer) };
    return formRequest({ customer: account.customer, sign: kuaidi100Sign(param, account), param });
  },
  read(answer, trackingNo) {
    const parsed = answerFields.safeParse(answer);
    if (!parsed.success) return { kind: 'garbage', reason: 'the answer is not an object' };
    const { status, state, message, returnCode, nu, data } = parsed.data;
    if (status !== '200' && status !== 'ok') {
      if (status === '' && returnCode === '') return { kind: 'garbage', reason: 'the answer has no status' };
      return { kind: 'refused', reason: carrierText(`${returnCode || status} ${message}`, 2_000) };
    }
    if (!isAbout(nu, trackingNo)) return { kind: 'garbage', reason: 'the answer is about another shipment' };
    const nodes = nodesOf(data, (entry) => {
      const node = nodeFields.safeParse(entry).data;
      if (!node) return null;
      const { ftime, time, context, location, status: name, statusCode } = node;
      const raw = entry as Record<string, unknown>;
      return { time: ftime || time, code: statusCode || name, text: context, location, raw };
    });
    return { kind: 'found', status: statuses[state] ?? 'shipped', nodes };
  },
};
