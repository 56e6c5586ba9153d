import type { Command } from 'commander';

export function addCompletion(_program: Command): void {}
