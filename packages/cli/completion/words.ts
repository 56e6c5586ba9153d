import type { Argument, Command, Option } from 'commander';

/** What can stand in a place: one of a few words, a path, or anything. */
export type Values = readonly string[] | 'files' | 'folders' | null;
export type WordOption = { flags: readonly string[]; about: string; takesValue: boolean; values: Values };
/** One command with what can follow it; `path` is `jobs list`, and empty for the program itself. */
export type Words = {
  path: string;
  commands: readonly { name: string; about: string }[];
  options: readonly WordOption[];
  values: Values;
};

/** A placeholder says what is wanted: `--config <file>`, `--data <folder>`. */
function valuesOf(choices: readonly string[] | undefined, placeholder: string): Values {
  if (choices?.length) return choices;
  if (/<?(file|path)\b/.test(placeholder)) return 'files';
  return /<?(folder|directory)\b/.test(placeholder) ? 'folders' : null;
}

const firstSentence = (text: string) => text.split(/[:;(]/)[0]!.trim();

function optionOf(option: Option): WordOption {
  return {
    flags: [option.long, option.short].filter((flag) => flag !== undefined),
    about: firstSentence(option.description),
    takesValue: option.required || option.optional,
    values: valuesOf(option.argChoices, option.flags.replace(/^[^<[]*/, '')),
  };
}

/** Every command of the tree with its options, as its help lists them. */
export function wordsOf(command: Command, path = ''): Words[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const [argument] = command.registeredArguments as readonly Argument[];
  const here: Words = {
    path,
    commands: commands.map((each) => ({ name: each.name(), about: firstSentence(each.description()) })),
    options: help.visibleOptions(command).map(optionOf),
    values: argument ? valuesOf(argument.argChoices, argument.name()) : null,
  };
  const below = commands.filter((each) => command.commands.includes(each));
  return [here, ...below.flatMap((each) => wordsOf(each, `${path} ${each.name()}`.trim()))];
}
