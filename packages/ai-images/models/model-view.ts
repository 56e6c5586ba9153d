import type { z } from 'zod';
import type { modelView } from './model-schemas.ts';
import type { ImageModel } from './model-store.ts';

export type ModelView = z.output<typeof modelView>;

const bitOf = (flag: boolean): 0 | 1 => (flag ? 1 : 0);

/** A model as it is answered and printed: without its key. */
export const viewOfModel = ({ api_key_sealed, is_default, supports_ref_image, ...row }: ImageModel): ModelView => ({
  id: row.id,
  name: row.name,
  driver: row.driver,
  endpoint: row.endpoint,
  params: row.params,
  is_default: bitOf(is_default),
  status: row.status,
  supports_ref_image: bitOf(supports_ref_image),
  has_api_key: api_key_sealed !== null,
});
