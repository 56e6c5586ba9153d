import type { Command } from 'commander';

export function addToken(_program: Command): void {}
