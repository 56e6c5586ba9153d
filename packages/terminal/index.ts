export { asCalled, commandName } from './command-name.ts';
export { completeAfter, completeWith, completionsAfter, completionsOf } from './completions.ts';
export { confirm } from './confirm.ts';
export { countOf, createProgress, numberOf } from './create-progress.ts';
export { openOutput } from './open-output.ts';
export { commandAuthor } from './operator.ts';
export { configOf, databaseOptions, type GlobalOptions, listOf, wholeNumber, withDatabaseOptions } from './options.ts';
export {
  bold,
  dim,
  exitCodes,
  green,
  print,
  printJson,
  progress,
  red,
  reportFailure,
  table,
  UsageError,
  yellow,
} from './output.ts';
export { reportFaults } from './report-faults.ts';
export { runningServer, serverUrl } from './running-server.ts';
export {
  askForPassword,
  readSecret,
  refuseSecretOption,
  secretAsArgument,
  warnOfPassword,
} from './secrets/read-secret.ts';
export { stopSignal } from './stop-signal.ts';
export { withProgress } from './with-progress.ts';
export { runtimeOpener, type WithRuntime } from './with-runtime.ts';
