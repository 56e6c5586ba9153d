import type { Command } from 'commander';

export function addJobs(_program: Command): void {}
