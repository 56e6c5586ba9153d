import { auditViolations } from './audit-violations.ts';
import type { TestDatabase } from './servers/database.ts';

/**
 * The rows that break an audit, one line each. Empty when the data is right. For products whose stock only orders changed
 * since they were inserted.
 */
export function invariantErrors({ sql }: TestDatabase): Promise<string[]> {
  return auditViolations(sql);
}
