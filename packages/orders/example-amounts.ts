import { amount } from '@tradepost/http';

/** The order in the examples of the API reference: two mugs of 12.90 with a coupon of 5.00. Its amounts add up. */
const example = { goods: 25.8, discount: 5, freight: 0, payable: 20.8 };

export const goodsAmount = () => amount().meta({ examples: [example.goods] });
export const discountAmount = () => amount().meta({ examples: [example.discount] });
export const freightAmount = () => amount().meta({ examples: [example.freight] });
export const payableAmount = () => amount().meta({ examples: [example.payable] });
