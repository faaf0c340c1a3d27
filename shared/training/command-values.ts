import { commandWords } from '../command/parse-command.ts';
import { allFlags, type ConfigValues, configPlaceholders, placeholderList } from '../command/placeholders.ts';
import { badRequest, type ParameterFault } from '../core/service-error.ts';

/**
 * Check that the configuration has a value for every placeholder of the command.
 * @param named parameter that named the configuration, or the command
 * @throws ServiceError 400 that names the missing values
 */
export function requireCommandValues(
  command: string,
  config_id: string,
  values: ConfigValues,
  named: Pick<ParameterFault, 'in' | 'name'> = { in: 'query', name: 'config' },
): void {
  // Commands of earlier releases may be ones that cannot be split. They fail in their job, with the reason.
  const missing = [...new Set(commandWords(command).flatMap(configPlaceholders))].filter(
    (name) => `{${name}}` !== allFlags && !Object.hasOwn(values, name),
  );
  const [first] = missing;
  if (first === undefined) return;
  const texts = missing.map((name) => `{${name}}`).join(', ');
  const message = `${config_id} has no single value for ${texts} of the command; ${placeholderList} and ${allFlags} need none; the text {${first}} itself is written {{${first}}}`;
  throw badRequest([{ ...named, message }]);
}
