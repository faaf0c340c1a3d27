import { parseArgs } from 'node:util';

/** How a flag's text is parsed. */
export type FlagKind = 'boolean' | 'number' | 'text' | 'list';

/** A parsed command line. */
export interface Arguments {
  /** The texts of each flag. Only a list flag may have several. */
  texts: ReadonlyMap<string, readonly string[]>;
  switches: ReadonlyMap<string, boolean>;
  positionals: readonly string[];
  /** All errors. */
  faults: readonly string[];
  /** Flags without a value. They need no second error. */
  lacking: ReadonlySet<string>;
  /** Whether a flag is unknown. The text after it may then be its value. */
  hasUnknown: boolean;
}

/** Split a command line into the given flags. `of` names the command in messages. */
export function readArguments(
  args: readonly string[],
  kinds: ReadonlyMap<string, FlagKind>,
  of: string,
): Arguments {
  const options = Object.fromEntries(
    [...kinds].map(([name, kind]) => [
      name,
      { type: kind === 'boolean' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    allowNegative: true,
    strict: false,
    tokens: true,
  });
  const texts = new Map<string, string[]>();
  const switches = new Map<string, boolean>();
  const positionals: string[] = [];
  const faults: string[] = [];
  let hasUnknown = false;
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue, index } = token;
    const kind = kinds.get(name);
    const isNegative = rawName === `--no-${name}`;
    if (kind === undefined || (isNegative && kind !== 'boolean') || !rawName.startsWith('--')) {
      faults.push(`${rawName} is not a flag of ${of}; --help lists them.`);
      hasUnknown = true;
    } else if (kind === 'boolean') {
      if (value !== undefined) faults.push(`--${name} takes no value; write --${name} or --no-${name}.`);
      else if (switches.has(name)) faults.push(`--${name} is given twice.`);
      switches.set(name, !isNegative);
    } else if (value === undefined || (inlineValue === false && value.startsWith('--'))) {
      // The value is missing: another flag follows.
      const rest = readArguments(args.toSpliced(index, 1), kinds, of);
      const lacks = `--${name} needs a value.`;
      return { ...rest, faults: [lacks, ...rest.faults], lacking: new Set([name, ...rest.lacking]) };
    } else {
      const given = texts.get(name);
      if (given === undefined) texts.set(name, [value]);
      else if (kind === 'list') given.push(value);
      else faults.push(`--${name} is given twice.`);
    }
  }
  return {
    texts,
    switches,
    positionals,
    faults: [...new Set(faults)],
    lacking: new Set(),
    hasUnknown,
  };
}
