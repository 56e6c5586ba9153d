export { gatewayErrors } from './errors.ts';
export type { Gateway } from './gateway.ts';
export { gatewayFault } from './messages/openai-errors.ts';
export { gatewayModule, gatewayService } from './module.ts';
export { upstreamSettings } from './upstreams/upstream-settings.ts';
