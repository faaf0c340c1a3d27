import { commandParams } from '../command/command-params.ts';
import { shownCommand } from '../command/private-argument.ts';
import type { Experiment } from '../data/experiments/experiment.ts';

type OfCommand = Pick<Experiment, 'kind' | 'environment'>;

/** Return the command of a training for people to read; null for an experiment that a client records. */
export const commandOf = ({ kind, environment }: OfCommand): string | null =>
  kind === 'logged' ? null : shownCommand(environment.entry_point_command);

/** Return a sentence for each flag whose value differs from the param of its name. */
export const commandClashes = (experiment: OfCommand, params: Readonly<Record<string, string>>): string[] =>
  Object.entries(flagsOf(experiment, params)).flatMap(([name, value]) => {
    const param = Object.hasOwn(params, name) ? params[name] : undefined;
    if (param === undefined || isSame(param, value)) return [];
    return [
      `The command has ${name} ${value}, but the param ${name} is ${param}, from the configuration or the program.`,
    ];
  });

/**
 * Return whether a param is only what the command states. The program may log another value of that name, because
 * it knows better.
 */
export const isFromCommand = (experiment: OfCommand, name: string, value: string): boolean =>
  flagsOf(experiment, {})[name] === value;

const flagsOf = (
  { kind, environment }: OfCommand,
  params: Readonly<Record<string, string>>,
): Record<string, string> =>
  kind === 'logged' ? {} : commandParams(environment.entry_point_command, params);

const isSame = (one: string, other: string): boolean =>
  one === other || isSameNumber(one, other) || (truth.test(one) && one.toLowerCase() === other.toLowerCase());

const isSameNumber = (one: string, other: string): boolean =>
  one.trim() !== '' && other.trim() !== '' && Number(one) === Number(other);

/** Programs log what they parsed, and Python writes `True`. */
const truth = /^(?:true|false)$/i;
