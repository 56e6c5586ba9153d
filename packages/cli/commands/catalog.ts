import type { Command } from 'commander';

export function addCatalog(_program: Command): void {}
