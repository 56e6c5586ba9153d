import { completionsAfter, completionsOf } from '@tradepost/terminal';
import type { Argument, Command, Option } from 'commander';

/** The values of an argument or option: fixed words, paths, or null for any text. */
export type Values = readonly string[] | 'files' | 'folders' | null;
export type WordOption = { flags: readonly string[]; about: string; takesValue: boolean; values: Values };
/** The words that can follow one command. `path` is for example `jobs list`; it is empty for the program itself. */
export type Words = {
  path: string;
  commands: readonly { name: string; about: string }[];
  options: readonly WordOption[];
  values: Values;
};

/** Finds the kind of value in the placeholder: `--config <file>`, `--data <folder>`. */
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
    values: completionsOf(option) ?? valuesOf(option.argChoices, option.flags.replace(/^[^<[]*/, '')),
  };
}

/** Lists every command of the tree with its options, as the help does. */
export function wordsOf(command: Command, path = ''): Words[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const [argument] = command.registeredArguments as readonly Argument[];
  const here: Words = {
    path,
    commands: commands.map((each) => ({ name: each.name(), about: firstSentence(each.description()) })),
    options: help.visibleOptions(command).map(optionOf),
    values: argument ? (completionsOf(argument) ?? valuesOf(argument.argChoices, argument.name())) : null,
  };
  // A value that decides about the next one is a step of the path, as a command is.
  const steps = argument ? [...completionsAfter(argument)] : [];
  const further = steps.map(([word, values]): Words => ({ ...here, path: `${path} ${word}`, values }));
  const below = commands.filter((each) => command.commands.includes(each));
  return [here, ...further, ...below.flatMap((each) => wordsOf(each, `${path} ${each.name()}`.trim()))];
}
