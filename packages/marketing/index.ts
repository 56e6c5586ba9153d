export { openPricePipeline, type PriceFacts, type PricePipeline, type PriceStep } from './price-pipeline.ts';
