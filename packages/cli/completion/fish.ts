import type { Values, WordOption, Words } from './words.ts';

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function valuePart(values: Values): string {
  if (values === 'files') return ' -r -F';
  if (values === 'folders') return " -x -a '(__fish_complete_directories)'";
  return values ? ` -x -a ${quote(values.join(' '))}` : ' -x';
}

function optionLine(at: string, { flags, about, takesValue, values }: WordOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return `${at} ${names.join(' ')}${takesValue ? valuePart(values) : ''} -d ${quote(about)}`;
}

export function fishScript(words: readonly Words[]): string {
  const paths = words.map(({ path }) => path).filter(Boolean);
  const lines = words.flatMap(({ path, commands, options, values }) => {
    const at = `complete -c tradepost -n ${quote(`__tradepost_at ${quote(path)}`)}`;
    return [
      ...commands.map((each) => `${at} -f -a ${quote(each.name)} -d ${quote(each.about)}`),
      ...(values ? [`${at}${valuePart(values).replace(' -r', '')}`] : []),
      ...options.map((option) => optionLine(at, option)),
    ];
  });
  return `# fish completion of tradepost
function __tradepost_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        set -l further (string trim -- "$at $word")
        contains -- $further ${paths.map(quote).join(' ')}; and set at $further
    end
    test "$at" = "$argv[1]"
end
complete -c tradepost -f
${lines.join('\n')}`;
}
