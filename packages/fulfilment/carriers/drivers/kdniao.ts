import { createHash } from 'node:crypto';
import { type ConfigPage, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { apiUrlRule, type CarrierDriver, type CarrierStatus, formRequest, isApiUrl } from './driver.ts';
import { carrierText, isAbout, looseText, nodesOf } from './nodes.ts';

const key = (name: string) => `logistics_kdniao.${name}`;

const page: ConfigPage = { plugin: 'logistics_kdniao', title: { en: 'Kdniao', 'zh-CN': '快递鸟' }, sort: 22 };
const apiUrl = setting(
  key('api_url'),
  z.string().max(500).refine(isApiUrl, { error: apiUrlRule.en }),
  'https://api.kdniao.com/Ebusiness/EbusinessOrderHandle.aspx',
  'address of the query service of kdniao',
  { field: { page, label: { en: 'Query URL', 'zh-CN': '查询接口地址' }, rule: apiUrlRule, serviceAddress: {} } },
);
const businessId = setting(key('ebusiness_id'), z.string().max(200), '', 'id of the account at kdniao', {
  field: { page: page, label: { en: 'EBusiness ID', 'zh-CN': '用户 ID' }, required: true },
});
const apiKey = setting(key('api_key'), z.string().max(500), '', 'API key of the account at kdniao', {
  secret: true,
  field: { page: page, label: { en: 'API key', 'zh-CN': 'API Key' }, required: true },
});

/** Base64 of the lower-case hex MD5 over the query and the API key. The protocol prescribes MD5. */
export const kdniaoSign = (requestData: string, secret: string): string =>
  Buffer.from(
    createHash('md5')
      .update(requestData + secret)
      .digest('hex'),
  ).toString('base64');

/** The states of the service. Every other state counts as shipped. */
const statuses: Readonly<Record<string, CarrierStatus>> = { 2: 'in_transit', 3: 'signed', 4: 'exception' };

/** The request type of an immediate query, and JSON as the type of its data. */
const immediateQuery = { RequestType: '1002', DataType: '2' };

const answerFields = z.object({
  Success: z.unknown().optional(),
  State: looseText(),
  Reason: looseText(),
  LogisticCode: looseText(),
  Traces: z.array(z.unknown()).catch([]),
});
const nodeFields = z.looseObject({
  AcceptTime: looseText(),
  AcceptStation: looseText(),
  Location: looseText(),
  Action: looseText(),
});

export const kdniao: CarrierDriver = {
  name: 'kdniao',
  aliases: ['logistics_kdniao'],
  companyCodes: {
    SF: 'SF',
    ZTO: 'ZTO',
    YTO: 'YTO',
    STO: 'STO',
    YD: 'YD',
    JD: 'JD',
    EMS: 'EMS',
    DBL: 'DBL',
    JT: 'JTSD',
  },
  apiUrl,
  account: [businessId, apiKey],
  request(settings, { company, tracking_no, phone }) {
    // The service compares the last four digits of the phone number.
    const CustomerName = phone.replace(/\D/g, '').slice(-4);
    const fields = { ShipperCode: company, LogisticCode: tracking_no, ...(CustomerName ? { CustomerName } : {}) };
    const RequestData = JSON.stringify(fields);
    return formRequest({
      ...{ RequestData, EBusinessID: settings.get(businessId), ...immediateQuery },
      // The signature is over the data before it is encoded for the form.
      DataSign: kdniaoSign(RequestData, settings.get(apiKey)),
    });
  },
  read(answer, trackingNo) {
    const parsed = answerFields.safeParse(answer);
    if (!parsed.success) return { kind: 'garbage', reason: 'the answer is not an object' };
    const { Success, State, Reason, LogisticCode, Traces } = parsed.data;
    if (Success !== true) {
      if (Success !== false) return { kind: 'garbage', reason: 'the answer has no field Success' };
      return { kind: 'refused', reason: carrierText(Reason || 'refused without a reason', 2_000) };
    }
    if (!isAbout(LogisticCode, trackingNo)) return { kind: 'garbage', reason: 'the answer is about another shipment' };
    const nodes = nodesOf(Traces, (entry) => {
      const node = nodeFields.safeParse(entry).data;
      if (!node) return null;
      const { AcceptTime, AcceptStation, Location, Action } = node;
      const raw = entry as Record<string, unknown>;
      return { time: AcceptTime, code: Action, text: AcceptStation, location: Location, raw };
    });
    return { kind: 'found', status: statuses[State] ?? 'shipped', nodes };
  },
};
