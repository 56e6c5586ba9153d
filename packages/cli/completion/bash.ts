import type { Values, Words } from './words.ts';

export const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Shell cases that find the command at the cursor, and the option that needs a value. Used for bash and zsh. */
export function walkCases(words: readonly Words[]): string[] {
  const paths = new Set(words.map(({ path }) => path));
  return words.flatMap(({ path, commands, options, values }) => [
    ...[...commands.map(({ name }) => name), ...(Array.isArray(values) ? values : [])]
      .filter((word) => paths.has(`${path} ${word}`.trim()))
      .map((word) => `${quote(`${path}|${word}`)}) at=${quote(`${path} ${word}`.trim())} ;;`),
    ...options
      .filter((option) => option.takesValue)
      .map((option) => `${option.flags.map((flag) => quote(`${path}|${flag}`)).join('|')}) option=$word ;;`),
  ]);
}

function candidates(values: Values): string {
  if (values === 'files') return 'files=-f';
  if (values === 'folders') return 'files=-d';
  return `list=${quote((values ?? []).join(' '))}`;
}

/** Works with bash 3.2, so it uses no associative arrays. Bash splits `--option=value` into three words. */
export function bashScript(words: readonly Words[]): string {
  const valueCases = words.flatMap(({ path, options }) =>
    options
      .filter((option) => option.takesValue && option.values)
      .map(
        (option) =>
          `${option.flags.map((flag) => quote(`${path}|${flag}`)).join('|')}) ${candidates(option.values)} ;;`,
      ),
  );
  const wordCases = words.map(({ path, commands, options, values }) => {
    const flags = options.flatMap((option) => option.flags.filter((flag) => flag.startsWith('--')));
    const names = [...commands.map((each) => each.name), ...(Array.isArray(values) ? values : [])];
    const paths = typeof values === 'string' ? `; ${candidates(values)}` : '';
    return `${quote(path)}) flags=${quote(flags.join(' '))}; list=${quote(names.join(' '))}${paths} ;;`;
  });
  const indent = (lines: readonly string[]) => lines.map((line) => `      ${line}`).join('\n');
  return `# bash completion of tradepost
_tradepost() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at='' option='' word list='' flags='' files='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $option ]]; then
      [[ $word == '=' ]] || option=''
      continue
    fi
    case "$at|$word" in
${indent(walkCases(words))}
    esac
  done
  [[ $cur == '=' ]] && cur=''
  if [[ -n $option ]]; then
    case "$at|$option" in
${indent(valueCases)}
    esac
  else
    case "$at" in
${indent(wordCases)}
    esac
    [[ $cur == -* ]] && { list=$flags; files=''; }
  fi
  local IFS=$'\\n'
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen "$files" -- "$cur"))
  else
    COMPREPLY=($(IFS=' '; compgen -W "$list" -- "$cur"))
  fi
}
complete -F _tradepost tradepost`;
}
