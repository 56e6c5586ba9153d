import type { Command } from 'commander';

export function addAudit(_program: Command): void {}
