import type { Labels, Localized } from '@tradepost/core';

const labels: Record<string, Localized> = {};

/**
 * Defines a way to pay that orders can name, with its label. Call it at the top of a file: the label of an old order stays known
 * while the module of its provider is switched off.
 */
export function definePaymentMethod(name: string, label: Localized): string {
  if (labels[name]) throw new Error(`the payment method ${name} is defined twice`);
  labels[name] = label;
  return name;
}

/** The methods that clients of the contract send. Orders accept them whether or not a provider serves them. */
export const usualPaymentMethods: readonly string[] = [
  definePaymentMethod('wechat', { en: 'WeChat Pay', 'zh-CN': '微信支付' }),
  definePaymentMethod('alipay', { en: 'Alipay', 'zh-CN': '支付宝' }),
];

export const paymentMethodLabels: Labels = labels;
