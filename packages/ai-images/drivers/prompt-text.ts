import type { PictureRequest, PictureStyle } from './driver.ts';

const styleTexts: Readonly<Record<PictureStyle, string>> = {
  ecommerce: 'Style: clean product photo for an online shop, even light, plain background.',
  realistic: 'Style: realistic photo, natural light.',
  illustration: 'Style: illustration.',
};

/** The prompt with its style. */
export const styledPrompt = ({ prompt, style }: PictureRequest): string =>
  style === null ? prompt : `${prompt}\n\n${styleTexts[style]}`;

/** The prompt with its style and negative prompt, for a service without a field for the latter. */
export const wholePrompt = (request: PictureRequest): string =>
  request.negPrompt === '' ? styledPrompt(request) : `${styledPrompt(request)}\nAvoid: ${request.negPrompt}`;
