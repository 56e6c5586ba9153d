import type { Command } from 'commander';

export function addPay(_program: Command): void {}
