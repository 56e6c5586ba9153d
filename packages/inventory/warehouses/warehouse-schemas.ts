import { bit, id, requiredText, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { strictPageWith } from '../stock/list-filters.ts';

const code = () => requiredText(64).meta({ examples: ['WH-1'] });
const name = () => requiredText(128).meta({ examples: ['Main warehouse'] });
const fields = {
  address: text(255).trim().optional(),
  contact: text(64).trim().optional(),
  phone: text(32).trim().optional(),
};

export const warehouseCreateBody = z.object({
  code: code(),
  name: name(),
  ...fields,
  status: z
    .int()
    .optional()
    .meta({ description: '0 is disabled, any other number is enabled', examples: [1] }),
});
/** Absent fields do not change. */
export const warehouseUpdateBody = z.object({
  code: code().optional(),
  name: name().optional(),
  ...fields,
  status: bit().optional(),
});
export const warehouseStatusBody = z.object({ status: bit() });

export const warehouseQuery = strictPageWith({
  keyword: text(100).trim().optional().meta({ description: 'part of name, code, contact or phone' }),
  status: z
    .int()
    .min(0)
    .max(1)
    .optional()
    .meta({ examples: [1] }),
});

export const warehouseView = z
  .object({
    id: id(),
    code: z.string().meta({ examples: ['WH-1'] }),
    name: z.string().meta({ examples: ['Main warehouse'] }),
    address: z.string(),
    contact: z.string(),
    phone: z.string(),
    status: bit().meta({ description: '1 enabled, 0 disabled' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Warehouse' });
