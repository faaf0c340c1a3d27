import { CliError, exitCodes } from './cli-error.ts';

/** Refuses two flags of which one would have no effect. @throws CliError where both are given */
export function refuseBoth(flags: Readonly<Record<string, unknown>>, advice: string): void {
  const given = Object.keys(flags).filter((name) => flags[name] !== undefined);
  if (given.length > 1)
    throw new CliError(
      `${given.map((name) => `--${name}`).join(' and ')} contradict each other. ${advice}`,
      exitCodes.usage,
    );
}
