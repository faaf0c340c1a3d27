/** Return options, one a line, for the help of a name that takes commands and options. */
export function optionsText(
  flags: Readonly<Record<string, { brief: string; placeholder?: string }>>,
): string {
  const options = Object.entries(flags).map(([name, { brief, placeholder }]) => ({
    option: `${name === 'set' ? '-S' : `--${name}`}${placeholder === undefined ? '' : ` ${placeholder}`}`,
    brief,
  }));
  const width = Math.max(...options.map(({ option }) => option.length));
  return options.map(({ option, brief }) => `  ${option.padEnd(width)}  ${brief}`).join('\n');
}
