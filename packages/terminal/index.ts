export { confirm } from './confirm.ts';
export { countOf, createProgress } from './create-progress.ts';
export { openOutput } from './open-output.ts';
export { configOf, type GlobalOptions, listOf, wholeNumber, withDatabaseOptions } from './options.ts';
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
export { readSecret, refuseSecretOption, secretAsArgument, warnOfPassword } from './read-secret.ts';
export { runningServer, serverUrl } from './running-server.ts';
export { stopSignal } from './stop-signal.ts';
export { withProgress } from './with-progress.ts';
export { runtimeOpener, type WithRuntime } from './with-runtime.ts';
