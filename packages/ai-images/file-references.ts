import { addressesIn, type FileReferences } from '@tradepost/storage';

/** Pictures of tasks, and their reference images. */
export const aiImageFiles: FileReferences = {
  name: 'ai-images',
  referenced: (sql, addresses) =>
    addressesIn(
      sql,
      addresses,
      sql`
        select result_urls::text from ai_images.tasks where status = 2
        union all select ref_image_url from ai_images.tasks where ref_image_url <> ''`,
    ),
};
