import { readSettings, settingNames } from '../../../shared/core/settings.ts';
import { CommandError } from '../../command/command-error.ts';
import { bucket, recordsTable } from './function-environment.ts';
import { gatewayVariables } from './gateway-options.ts';

/**
 * Refuses what functions and jobs would refuse at every request and in every run, before there are any.
 * @throws CommandError naming each variable that is bad, or that is a limit which there is not
 */
export function checkSettings(environment: Readonly<Record<string, string | undefined>>): void {
  const limits = [...settingNames(), ...gatewayVariables].filter((name) => name.startsWith('LIMIT_'));
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('LIMIT_') && !limits.includes(name),
  );
  if (unknown.length > 0) {
    throw new CommandError(`There is no ${unknown.join(', ')}. Limits are: ${limits.join(', ')}.`);
  }
  const { REGISTRATION, LOG_LEVEL } = environment;
  const given = Object.fromEntries(limits.map((name) => [name, environment[name]]));
  try {
    readSettings({ ...given, REGISTRATION, LOG_LEVEL, RECORDS_TABLE: recordsTable, BUCKET: bucket });
  } catch (error) {
    throw new CommandError(error instanceof Error ? `${error.message}.` : String(error));
  }
}
