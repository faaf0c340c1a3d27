import type { endpoint as trainProject } from '../../functions/projects/training/train-project.endpoint.ts';
import type { endpoint as trainRemote } from '../../functions/projects/training/train-project-remote.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { shownCommand } from '../../shared/command/private-argument.ts';
import type { RunRule } from '../../shared/run-rules/run-rule.ts';
import type { Experiment } from '../experiments/experiment.ts';
import type { Session } from '../login/connect.ts';
import { mostCost } from './most-cost.ts';
import type { Place, RunOptions, Sizes } from './plan-folder.ts';
import { type InputVersions, prepareFolder } from './prepare-folder.ts';
import { type RuleFlags, rulesQuery } from './rule-flag.ts';
import type { GitState } from './source/git-state.ts';

/**
 * Start an experiment from a folder: store its inputs, then train.
 *
 * @param onSubmit called before the training is submitted. After this call, an interruption cannot prevent it
 * @throws CliError if the user must fix something first
 */
export async function runFolder(
  session: Session,
  { budget, stopIf, notifyIf, said = {}, ...options }: RunOptions & TrainingOptions,
  { onSubmit, ...place }: Place & { onSubmit(): void },
): Promise<Experiment> {
  const { project_id, config_id, command, git, sizes, rules, steps, withPinned } = await prepareFolder(
    session,
    options,
    place,
    ({ projectFile }) => beginningOf({ budget, stopIf, notifyIf, said }, projectFile.rules),
  );
  onSubmit();
  const experiment = await withPinned((meant) =>
    submit(session.client, project_id, config_id, {
      ...sizes,
      ...git,
      ...meant,
      ...beginningOf({ budget, stopIf, notifyIf, said }, rules),
    }),
  );
  const { experiment_id } = experiment;
  steps.done('submitted', `${experiment_id}: ${shownCommand(command)}${mostCost(experiment, budget)}`);
  return experiment;
}

/** Return what a request that begins a training says besides its inputs. */
export const beginningOf = (
  { budget, said, ...flags }: TrainingOptions,
  rules: readonly RunRule[] | undefined,
) => ({
  ...said,
  ...(budget !== undefined && { budget }),
  ...rulesQuery(flags, rules),
});

/** Options of a training besides those of its folder. */
type TrainingOptions = RuleFlags & { budget?: number | undefined; said?: Said };

async function submit(
  client: Client,
  project_id: string,
  config: string,
  { nodes = 1, ...rest }: Sizes & GitState & InputVersions & Said & { budget?: number; rules?: string },
): Promise<Experiment> {
  const path = { project_id };
  if (nodes === 1)
    return client.call<typeof trainProject>('POST /projects/{project_id}/train', {
      path,
      query: { config, ...rest },
    });
  return client.call<typeof trainRemote>('POST /projects/{project_id}/train-remote', {
    path,
    query: { config, nodes, ...rest },
  });
}

/** What the user says about a training. */
interface Said {
  name?: string;
  note?: string;
  /** A JSON object. */
  tags?: string;
}
