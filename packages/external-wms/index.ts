export { externalWmsModule } from './module.ts';
export { externalSignature, signatureFits } from './protocol/signature.ts';
