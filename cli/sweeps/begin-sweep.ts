import type { endpoint as createSweep } from '../../functions/projects/sweeps/create-sweep.endpoint.ts';
import type { endpoint as estimateSweep } from '../../functions/projects/sweeps/estimate-sweep.endpoint.ts';
import type { AnswerOf } from '../../shared/client/route.ts';
import { hasFlag } from '../../shared/command/set-flags.ts';
import type { SweepParameter } from '../../shared/sweeps/spec/parameter.ts';
import { CliError, exitCodes, usageFaults } from '../cli-error.ts';
import type { Session } from '../login/connect.ts';
import { dollarsText, secondsText } from '../output/units.ts';
import { applyOverrides } from '../run/apply-overrides.ts';
import { ownConfigName } from '../run/choose-config.ts';
import { hasValue, type Override, overrideConfig } from '../run/override-config.ts';
import { type Place, type RunOptions, sizeNames } from '../run/plan-folder.ts';
import { prepareFolder } from '../run/prepare-folder.ts';
import { faultsOfFile, readSweepFile } from './sweep-file.ts';
import type { SweptValue } from './swept-value.ts';

export type Sweep = AnswerOf<typeof createSweep>;

/** Options of a sweep. They override its file. */
export interface SweepOptions extends Omit<RunOptions, 'overrides'> {
  /** Path of its file; undefined without one. */
  file: string | undefined;
  /** Values of `-S`. */
  swept: readonly SweptValue[];
  /** Fields of the file that flags set. Undefined ones stay. */
  fields: Readonly<Record<string, unknown>>;
}

/**
 * Begin a sweep over this folder: store its inputs as for a training, show what it will take, and begin it.
 *
 * @param onSubmit called before the sweep begins. After this call, an interruption cannot prevent it
 * @throws CliError that names all faults of the file; nothing was sent then
 */
export async function beginSweep(
  session: Session,
  { file, swept, fields, ...options }: SweepOptions,
  { onSubmit, ...place }: Place & { onSubmit(): void },
): Promise<Sweep> {
  const { client } = session;
  const read = file === undefined ? {} : await readSweepFile(place.folder, file);
  const title = file ?? 'The sweep';
  const { config: path, ...rest } = { ...read, ...defined(fields) };
  const ranges = swept.flatMap((one) => ('parameter' in one ? [one] : []));
  const fixed = swept.flatMap((one): Override[] => ('parameter' in one ? [] : [one]));
  let spec: Record<string, unknown> = {};
  let faults: readonly string[] = [];
  const prepared = await prepareFolder(
    session,
    {
      ...sizesOf(rest),
      ...options,
      ...(typeof path === 'string' && { declaredConfig: { by: title, path } }),
      overrides: fixed,
    },
    place,
    () => ({ begins: 'sweep', faults, ...budgetOf(rest) }),
    async (folder, names, given, command) => {
      const settled = await applyOverrides(folder, names, given, command);
      const chosen = parametersOf(ranges, settled, rest['args'] === true);
      const config = { ...settled.config, content: withFirstValues(settled.config.content, chosen.added) };
      spec = {
        ...rest,
        ...chosen.args,
        ...(Object.keys(chosen.parameters).length > 0 && {
          parameters: { ...(rest['parameters'] as object | undefined), ...chosen.parameters },
        }),
        config: config.config_id,
      };
      faults = await faultsOfFile(title, spec, config);
      return { config, command: settled.command };
    },
  );
  const { project_id, sizes, rules, steps } = prepared;
  // Rules of the sweep's own file replace those of mps.yaml.
  const body = { ...(rules.length > 0 && { rules }), ...spec, ...sizes } as never;
  const estimate = await prepared.withPinned((query) =>
    usageFaults(
      client.call<typeof estimateSweep>('POST /projects/{project_id}/sweeps/estimate', {
        path: { project_id },
        query,
        body,
      }),
    ),
  );
  steps.done('estimate', estimateText(estimate));
  place.signal.throwIfAborted();
  onSubmit();
  const sweep = await prepared.withPinned((query) =>
    usageFaults(
      client.call<typeof createSweep>('POST /projects/{project_id}/sweeps', {
        path: { project_id },
        query,
        body,
      }),
    ),
  );
  steps.done('begun', `${sweep.sweep_id}: ${sweep.name}, ${sweep.method}, ${sweep.goal} ${sweep.metric}`);
  return sweep;
}

const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Return the sizes of a file. What is no size is left to the check of the file. */
function sizesOf(fields: Readonly<Record<string, unknown>>): Partial<RunOptions> {
  const sizes = sizeNames.map((name) => [name, fields[name]] as const);
  return Object.fromEntries(
    sizes.filter(([name, value]) => typeof value === (isText(name) ? 'string' : 'number')),
  );
}

/** Return the budget of a file, unless the check of the file refuses it. */
function budgetOf({ budget }: Readonly<Record<string, unknown>>): { budget?: number } {
  return typeof budget === 'number' && budget > 0 ? { budget } : {};
}

const isText = (name: (typeof sizeNames)[number]): boolean => name === 'dataset' || name === 'capacity';

type Ranges = readonly { name: string; parameter: SweepParameter }[];

/**
 * Say what each range of `-S` varies: a value of the configuration, or a flag of the command. In a folder without
 * a configuration it is a flag, unless the command has a placeholder for it.
 * @throws CliError if some are flags and some are not
 */
function parametersOf(
  ranges: Ranges,
  {
    config: { config_id, content },
    command,
  }: { config: { config_id: string; content: string }; command: string },
  isArgs: boolean,
) {
  const isFlag = ({ name }: Ranges[number]): boolean => {
    if (isArgs || name.startsWith('-')) return true;
    if (hasValue(config_id, content, name.split('.'))) return false;
    const hasPlaceholder = command.includes(`{${name}}`) || command.includes('{args}');
    return !hasPlaceholder && (config_id === ownConfigName || hasFlag(command, name));
  };
  const flags = ranges.filter(isFlag);
  const values = ranges.filter((range) => !isFlag(range));
  if (flags.length > 0 && values.length > 0) {
    const list = (some: Ranges) => some.map(({ name }) => name).join(', ');
    throw new CliError(
      `A sweep varies values of the configuration or flags of the command, not both. Flags: ${list(flags)}. Values of ${config_id}: ${list(values)}.`,
      exitCodes.usage,
    );
  }
  const parameters = Object.fromEntries(
    ranges.map(({ name, parameter }) => [name.replace(/^--?/, ''), parameter]),
  );
  const added = config_id === ownConfigName ? values : [];
  return { parameters, args: flags.length > 0 ? { args: true } : {}, added };
}

/** Add the first value of each parameter to the configuration that `mps` makes of flags. */
function withFirstValues(content: string, added: Ranges): string {
  return overrideConfig(
    ownConfigName,
    content,
    added.map(({ name, parameter: { min, values = [] } }) => ({
      path: name.split('.'),
      value: min ?? values[0] ?? null,
    })),
  );
}

function estimateText({
  experiments,
  hours,
  cost,
  seconds_each,
  from,
}: AnswerOf<typeof estimateSweep>): string {
  const count = `${experiments} ${experiments === 1 ? 'training' : 'trainings'}`;
  const each = `${secondsText(seconds_each)} each`;
  const most = from === 'timeout' ? 'at most ' : 'about ';
  const money = cost === null ? 'compute has no price here' : `${most}${dollarsText(cost)}`;
  return from === 'timeout'
    ? `${count}, at most ${each} by the timeout, ${money}: how long one takes is known once one has ended`
    : `${count}, about ${secondsText(hours * 3600)}, ${money}: ${each}, as earlier ones took`;
}
