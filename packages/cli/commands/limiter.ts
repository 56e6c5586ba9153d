import type { Command } from 'commander';
import { addInspect } from './limiter-inspect.ts';
import { addLoad } from './limiter-load.ts';
import { addReset } from './limiter-reset.ts';

export function addLimiter(program: Command): void {
  const group = program
    .command('limiter')
    .description('the rate limiter of the gateway: load-test it, look at what it counts, forget it');
  addLoad(group);
  addInspect(group);
  addReset(group);
}
