export { openPricePipeline, type PricedOrder, type PriceFacts, type PricePipeline } from './pipeline.ts';
export {
  type Discount,
  type DiscountType,
  discountLabels,
  type LineActivity,
  type OrderWithUses,
  type PlacedOrder,
  type PriceLine,
  type PriceRequest,
  type PriceScope,
  type PriceStep,
  type Pricing,
  priceSteps,
} from './price-step.ts';
