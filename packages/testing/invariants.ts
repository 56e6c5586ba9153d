import { auditViolations } from './audit-violations.ts';
import type { TestDatabase } from './servers/database.ts';

/**
 * What is wrong in the tables after whatever customers and staff did; empty when nothing is. For products whose stock
 * only orders moved since they were inserted.
 */
export function invariantErrors({ sql }: TestDatabase): Promise<string[]> {
  return auditViolations(sql);
}
