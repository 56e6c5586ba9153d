import { isCssColour } from '@tradepost/core';
import { isPictureAddress, text } from '@tradepost/http';
import { z } from 'zod';

/** A CSS colour. An empty one is the default. */
const colour = (fallback: string) =>
  text(100)
    .transform((value) => value.trim() || fallback)
    .refine(isCssColour, { params: { fault: 'colour' } })
    .default(fallback);

/** Words and lengths of a CSS property. No character can end the declaration or begin a function. */
const cssWords = (fallback: string) =>
  text(60)
    .trim()
    .refine((value) => /^[-\w.%, ]*$/.test(value))
    .default(fallback);

const number = (min: number, max: number, fallback: number) => z.number().min(min).max(max).default(fallback);

/** A picture inside `url(...)`: no character can end it. */
const picture = text(500)
  .trim()
  .refine((value) => isPictureAddress(value) && !/[\s"'()<>\\]/.test(value), { params: { fault: 'picture' } })
  .default('');

const gradient = z.object({
  angle: number(-360, 360, 180),
  stops: z
    .array(z.object({ color: colour('#ffffff'), position: number(0, 100, 0) }))
    .min(2)
    .max(10),
});
const image = z.object({
  url: picture,
  size: z.enum(['cover', 'contain', 'auto', 'custom']).default('cover'),
  customSize: cssWords(''),
  position: cssWords('center center'),
  repeat: cssWords('no-repeat'),
  attachment: z.enum(['scroll', 'fixed']).default('scroll'),
});

/** The style of the PC page. Absent fields get their defaults, and fields that no client reads are left out. */
export const pageStyle = z
  .object({
    background: z
      .object({
        mode: z.enum(['solid', 'gradient', 'image']).default('solid'),
        solidColor: colour('#f8fafc'),
        gradient: gradient.optional(),
        image: image.optional(),
        overlay: z
          .object({ enabled: z.boolean().default(false), color: colour('#000000'), opacity: number(0, 1, 0.2) })
          .prefault({}),
      })
      .prefault({})
      .refine(({ mode, gradient }) => mode !== 'gradient' || gradient, {
        path: ['gradient'],
        params: { fault: 'missing' },
      })
      .refine(({ mode, image }) => mode !== 'image' || image, { path: ['image'], params: { fault: 'missing' } }),
    content: z
      .object({ maxWidth: number(320, 3840, 1280), gutterX: number(0, 400, 24), sectionGap: number(0, 400, 24) })
      .prefault({}),
    surface: z
      .object({ radius: number(0, 200, 12), shadow: z.enum(['none', 'sm', 'md', 'lg']).default('none') })
      .prefault({}),
  })
  .prefault({});

const length = () => z.number().min(-2_000).max(2_000).optional();
const optionalColour = text(100)
  .trim()
  .refine((value) => value === '' || isCssColour(value), { params: { fault: 'colour' } })
  .optional();

/** The style of one component. Fields that are not listed are stored as they are. */
export const componentStyle = z.looseObject({
  marginTop: length(),
  marginBottom: length(),
  paddingX: length(),
  paddingY: length(),
  backgroundColor: optionalColour,
  borderRadius: length(),
  borderWidth: length(),
  borderColor: optionalColour,
  shadow: text(50).optional(),
});
