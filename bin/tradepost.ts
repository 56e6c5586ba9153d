#!/usr/bin/env node
import { main } from '@tradepost/cli';

const code = await main(process.argv.slice(2));
if (code !== undefined) process.exit(code);
