export { findCommands } from './find-commands.ts';
export { main } from './main.ts';
export { openProgram } from './open-program.ts';
export { run } from './run.ts';
