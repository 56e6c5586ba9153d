import type { Command } from 'commander';

export function addDoctor(_program: Command): void {}
