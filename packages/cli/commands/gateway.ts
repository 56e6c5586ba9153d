import type { Command } from 'commander';
import { addLimits } from './gateway-limits.ts';
import { addTokens } from './gateway-tokens.ts';
import { addUpstreams } from './gateway-upstreams.ts';

export function addGateway(program: Command): void {
  const group = program.command('gateway').description('the LLM gateway: API tokens, limits of shoppers, upstreams');
  addTokens(group);
  addLimits(group);
  addUpstreams(group);
}
