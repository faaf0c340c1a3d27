import type * as z from 'zod';
import { CommandError } from '../../../shared/command/parse-command.ts';
import { hasFlag, setFlags } from '../../../shared/command/set-flags.ts';
import { type ConfigValue, isMapping } from '../../../shared/config/config-value.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import type { Overrides } from '../../../shared/data/projects/environment-rules.ts';
import { commandFaults } from '../../../shared/runner/training/environment-faults.ts';
import { parseStored } from '../../../shared/training/parse-stored.ts';

type Values = z.infer<typeof Overrides>;

/**
 * Split the values that a rerun replaces into those of the configuration and those of flags. A name with hyphens
 * (`--lr`) is a flag; any other is a value of the configuration, or else a flag that the command has.
 */
export async function splitOverrides(
  overrides: Values,
  command: string,
  config: { config_id: string; content: Uint8Array },
): Promise<{ config: Values; flags: Values }> {
  const { config_id, content } = config;
  const { data } = await parseStored(config_id, content);
  const isFlag = (name: string): boolean =>
    name.startsWith('-') || (!hasScalar(data, name) && hasFlag(command, name));
  const entries = Object.entries(overrides);
  return {
    config: Object.fromEntries(entries.filter(([name]) => !isFlag(name))),
    flags: Object.fromEntries(entries.filter(([name]) => isFlag(name))),
  };
}

/** Return whether a path such as `optimizer.lr` or `layers.0.units` leads to a single value. */
function hasScalar(data: ConfigValue, path: string): boolean {
  let at: ConfigValue | undefined = data;
  for (const key of path.split('.')) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (at !== undefined && isMapping(at) && Object.hasOwn(at, key)) at = at[key];
    else return false;
  }
  return at !== undefined && !Array.isArray(at) && !isMapping(at);
}

/**
 * Return the command of a rerun with its flags set.
 * @param isNew whether the request states the command
 * @throws ServiceError 400 for a command that cannot run as written, and for flags that cannot be set
 */
export function changedCommand(command: string, isNew: boolean, flags: Values): string {
  const faults = isNew ? commandFaults(command) : [];
  if (faults.length > 0) throw badRequest([{ in: 'query', name: 'command', message: faults.join('; ') }]);
  if (Object.keys(flags).length === 0) return command;
  try {
    return setFlags(command, flags);
  } catch (error) {
    if (error instanceof CommandError)
      throw badRequest([{ in: 'query', name: 'overrides', message: error.message }]);
    throw error;
  }
}
