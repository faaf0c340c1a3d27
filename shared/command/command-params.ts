import { commandArguments, programWords } from './command-arguments.ts';
import { allFlags, type ConfigValues, configPlaceholders, fillPlaceholders } from './placeholders.ts';
import { holdsPlace, holdsSecret, isSecretValue } from './private-argument.ts';

/**
 * Return the params that a command states: its flags and `key=value` pairs, without those that hold places or
 * secrets, or ask Hydra for several runs. A flag without a value is `true`. Of a repeated flag the last one counts, as
 * programs do it.
 * @param config scalars of the configuration, by which `{lr}` is replaced
 */
export function commandParams(command: string, config: ConfigValues = {}): Record<string, string> {
  const params = new Map<string, string>();
  const words = programWords(command).filter((word) => word !== allFlags);
  for (const { name, value, at } of commandArguments(words)) {
    if (value === null && multiRun.has(name)) continue;
    // `--token -abc`: the parser of the program may take it as a value.
    if (value === null && isSecretValue(words, at)) continue;
    const text = value === null ? 'true' : fillPlaceholders(value, {}, config);
    // A shell would replace a variable; its value is unknown here.
    if (text.includes('$')) continue;
    const isOpen =
      value !== null &&
      configPlaceholders(value).some((configPlaceholder) => !Object.hasOwn(config, configPlaceholder));
    if (!isOpen && !holdsSecret(name, text) && !holdsPlace(name, text)) params.set(name, text);
  }
  return Object.fromEntries(params);
}

/** Flags of Hydra that start a run for each setting. They set nothing. */
const multiRun: ReadonlySet<string> = new Set(['m', 'multirun']);
