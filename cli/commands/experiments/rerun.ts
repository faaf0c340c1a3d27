import type { endpoint as rerunExperiment } from '../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { NumberLiteral } from '../../../shared/config/set-values/typed-value.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { showToEnd } from '../../experiments/follow-experiment.ts';
import { mostCost } from '../../run/most-cost.ts';
import { isCompound, type Override } from '../../run/override-config.ts';
import { rulesQuery } from '../../run/rule-flag.ts';
import { experimentId } from '../arguments.ts';
import { command } from '../command.ts';
import {
  choice,
  detach,
  json,
  overrides,
  project,
  rules,
  runBudget,
  sizes,
  text,
  tracked,
  trackedQuery,
} from '../flags.ts';
import { configNames } from '../live-names.ts';
import { withUsage } from '../with-usage.ts';

export const rerunCommand = withUsage(
  command({
    brief: 'Train an experiment again, with changes',
    help: `Begins a new experiment with the source, environment, data and configuration of an earlier one, even if the project has changed since. The flags override single values. The training continues from the checkpoints of the earlier one.

Examples:
  mps rerun
  mps rerun 4k8f -S optimizer.lr=0.003 --fresh
  mps rerun 4k8f -S --lr=0.4
  mps rerun 4k8f -- python train.py --resume
  mps rerun latest --memory 8192 -d`,
    args: [experimentId],
    flags: {
      set: overrides,
      config: {
        ...text('NAME', 'Another configuration of the project (default: that of the earlier experiment)'),
        proposeCompletions: configNames,
      },
      command: text('COMMAND', 'Another command; also the words after --'),
      fresh: choice('Start without the checkpoints of the earlier experiment'),
      ...sizes,
      ...tracked,
      budget: runBudget,
      ...rules,
      project,
      detach,
      json,
    },
    aliases: { S: 'set', c: 'config', p: 'project', d: 'detach' },
    async run(flags, id) {
      const {
        set = [],
        project: given,
        detach: isDetached,
        json: isJson,
        verbose: _,
        stopIf,
        notifyIf,
        name,
        tag,
        note,
        spot: capacity,
        ...rest
      } = flags;
      const ruled = rulesQuery({ stopIf, notifyIf });
      const said = trackedQuery({ name, tag, note });
      const changes = {
        ...rest,
        capacity,
        ...ruled,
        ...said,
        ...(set.length > 0 && { overrides: replacedValues(set) }),
      };
      const { session, path } = await namedExperiment(this, given, id);
      const route = 'POST /projects/{project_id}/experiments/{experiment_id}/rerun';
      const begun = await session.client.call<typeof rerunExperiment>(route, { path, query: changes });
      const estimate = mostCost(begun, flags.budget);
      const ran = begun.command === null ? '' : `: ${begun.command}`;
      this.printer.say(`submitted   ${begun.experiment_id}: again as ${path.experiment_id}${ran}${estimate}`);
      await showToEnd(this, session.client, begun, { detach: isDetached, json: isJson });
    },
  }),
  '[ID] [-- COMMAND...]',
);

/**
 * Return the `--set` values as the service expects them: a JSON object by path.
 *
 * @throws CliError for a list or a mapping
 */
export function replacedValues(set: readonly Override[]): string {
  const compound = set.filter(({ value }) => isCompound(value));
  if (compound.length > 0) {
    const names = compound.map(({ path }) => path.join('.')).join(', ');
    throw new CliError(
      `${names}: with a rerun, -S takes single values, such as lr=0.003. For lists and mappings, change the file and use "mps run -c FILE".`,
      exitCodes.usage,
    );
  }
  const long = set.filter(({ value }) => value instanceof NumberLiteral && !value.isExact);
  if (long.length > 0) {
    const names = long.map(({ path }) => path.join('.')).join(', ');
    throw new CliError(
      `${names}: with a rerun, -S takes whole numbers up to 2^53 - 1. For longer ones, change the file and use "mps run -c FILE".`,
      exitCodes.usage,
    );
  }
  return JSON.stringify(
    Object.fromEntries(
      set.map(({ path, value }) => [path.join('.'), value instanceof NumberLiteral ? value.value : value]),
    ),
  );
}
