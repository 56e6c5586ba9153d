import { quote, walkCases } from './bash.ts';
import type { Values, Words } from './words.ts';

/** One entry of `_describe`: `name:description`. */
const described = (name: string, about: string) => quote(`${name.replaceAll(':', '\\:')}:${about}`);

function complete(values: Values): string {
  if (values === 'files') return '_files';
  if (values === 'folders') return '_files -/';
  return `compadd -- ${(values ?? []).map(quote).join(' ')}`;
}

export function zshScript(words: readonly Words[]): string {
  const valueCases = words.flatMap(({ path, options }) =>
    options
      .filter((option) => option.takesValue)
      .map((option) => {
        const flags = option.flags.map((flag) => quote(`${path}|${flag}`)).join('|');
        return `${flags}) ${option.values ? complete(option.values) : '_message value'} ;;`;
      }),
  );
  const wordCases = words.map(({ path, commands, options, values }) => {
    const flags = options.map((option) => described(option.flags[0]!, option.about));
    const names = commands.map((each) => described(each.name, each.about));
    const rest = values ? `; ${complete(values)}` : '';
    return `${quote(path)}) flags=(${flags.join(' ')}); names=(${names.join(' ')})${rest} ;;`;
  });
  const indent = (lines: readonly string[]) => lines.map((line) => `      ${line}`).join('\n');
  return `#compdef tradepost
_tradepost() {
  local at='' option='' word i
  local -a names flags
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $option ]]; then
      option=''
      continue
    fi
    case "$at|$word" in
${indent(walkCases(words))}
    esac
  done
  if [[ -n $option ]]; then
    case "$at|$option" in
${indent(valueCases)}
    esac
  else
    case "$at" in
${indent(wordCases)}
    esac
    if [[ $PREFIX == -* ]]; then
      _describe -o option flags
    elif ((\${#names})); then
      _describe command names
    fi
  fi
}
# A file in $fpath is the body of the function; source and eval must register it.
if [[ \${funcstack[1]} == _tradepost ]]; then _tradepost "$@"; else compdef _tradepost tradepost; fi`;
}
