import { version } from '@tradepost/app';
import { Command, CommanderError } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addBench } from './commands/bench.ts';
import { addCatalog } from './commands/catalog.ts';
import { addCompletion } from './commands/completion.ts';
import { addDemo } from './commands/demo.ts';
import { addDoctor } from './commands/doctor.ts';
import { addGateway } from './commands/gateway.ts';
import { addJobs } from './commands/jobs.ts';
import { addLimiter } from './commands/limiter.ts';
import { addMaintenance } from './commands/maintain.ts';
import { addPay } from './commands/pay.ts';
import { addRetention } from './commands/retention.ts';
import { addStaff } from './commands/staff.ts';
import { addStart } from './commands/start.ts';
import { addToken } from './commands/token.ts';
import { addWms } from './commands/wms.ts';
import { exitCodes, reportFailure } from './output.ts';

/** Runs one command line and answers its exit code; a server answers when it is ready and goes on. */
export async function main(argv: readonly string[]): Promise<number | undefined> {
  const program = new Command('tradepost')
    .description('Self-hosted shop back end: storefront and back-office APIs, stock, orders and payments')
    .version(version)
    .exitOverride()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
    .addHelpText(
      'after',
      '\nExample:\n  $ tradepost start          # then open http://127.0.0.1:8080/docs\n\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 already running.',
    );
  addStart(program);
  addDemo(program);
  addMaintenance(program);
  addStaff(program);
  addToken(program);
  addCatalog(program);
  addPay(program);
  addWms(program);
  addGateway(program);
  addLimiter(program);
  addAudit(program);
  addJobs(program);
  addRetention(program);
  addDoctor(program);
  addCompletion(program);
  addBench(program);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    return reportFailure(error);
  }
}
