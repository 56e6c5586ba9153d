export { paymentSimulatorModule } from './module.ts';
export { openPaymentSimulator, type PaymentSimulator } from './simulator.ts';
