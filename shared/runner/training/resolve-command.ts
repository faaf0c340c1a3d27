import { parseCommand } from './parse-command.ts';
import { fillPlaceholders, type PlaceholderValues } from './placeholders.ts';

/**
 * The arguments of a command with values in the place of its placeholders. A value is never split or interpreted.
 * @throws CommandError where the command cannot be split
 */
export function resolveCommand(text: string, values: PlaceholderValues): [string, ...string[]] {
  const [program, ...args] = parseCommand(text);
  const fill = (argument: string): string => fillPlaceholders(argument, values);
  return [fill(program), ...args.map(fill)];
}
