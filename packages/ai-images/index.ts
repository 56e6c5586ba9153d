export { aiImagesModule } from './module.ts';
