export const defaultVariant = 'default';

/** The normal form of the key of a page or variant: `Summer Sale` is `summer_sale`. A blank key is the default variant. */
export const normalKey = (key: string): string => key.trim().toLowerCase().replaceAll(/\s/g, '_') || defaultVariant;
