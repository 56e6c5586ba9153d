import { lineText } from '@tradepost/http';
import { type ConfigPage, setting } from '@tradepost/runtime';
import { z } from 'zod';

export const deliveryModes = ['express', 'local', 'both'] as const;

export const deliveryMode = setting(
  'delivery_router.delivery_mode',
  z.enum(deliveryModes),
  'express',
  'how orders are delivered: express by a carrier, local by a rider, or both; the other type is refused when an order is shipped',
  {
    field: {
      page: { plugin: 'delivery_router', title: { en: 'Delivery', 'zh-CN': '配送方式' }, sort: 30 },
      label: { en: 'Delivery mode', 'zh-CN': '配送模式' },
      choices: deliveryModes,
      choiceLabels: {
        express: { en: 'Carrier', 'zh-CN': '快递' },
        local: { en: 'Rider', 'zh-CN': '同城配送' },
        both: { en: 'Carrier and rider', 'zh-CN': '快递和同城配送' },
      },
      required: true,
    },
  },
);
const riderPage: ConfigPage = {
  plugin: 'delivery_local',
  title: { en: 'Local delivery', 'zh-CN': '同城配送' },
  sort: 31,
};

export const defaultRiderName = setting(
  'delivery_local.default_rider_name',
  lineText(64),
  '',
  'name of the rider of a local delivery that names none',
  { field: { page: riderPage, label: { en: 'Rider', 'zh-CN': '默认骑手姓名' } } },
);
export const defaultRiderPhone = setting(
  'delivery_local.default_rider_phone',
  lineText(32),
  '',
  'phone number of the rider of a local delivery that names none',
  { field: { page: riderPage, label: { en: 'Phone of the rider', 'zh-CN': '默认骑手电话' } } },
);

export const shipmentSettings = [deliveryMode, defaultRiderName, defaultRiderPhone] as const;
