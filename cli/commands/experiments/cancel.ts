import type { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import type { endpoint as cancelExperiments } from '../../../functions/experiments/records/cancel-experiments.endpoint.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { connect } from '../../login/connect.ts';
import { requireProject } from '../../projects/find-project.ts';
import { experimentIdOf } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, type ProjectFlags, project } from '../flags.ts';
import { withUsage } from '../with-usage.ts';

export const cancelCommand = withUsage(
  command({
    brief: 'Cancel experiments; logs, metrics and artifacts are kept',
    help: 'Examples:\n  mps cancel latest\n  mps cancel 4k8f\n  mps cancel --all',
    args: [{ ...experimentIdOf('Experiments to cancel'), several: 0 }],
    flags: { all: choice('Cancel all running and waiting trainings of the project'), project, json },
    async run(flags, ...ids) {
      const { all = false, project: given, json: isJson } = flags;
      if (all === ids.length > 0)
        throw new CliError(
          'Name the experiments to cancel by ID, or give --all to cancel all of a project.',
          exitCodes.usage,
        );
      if (all) return cancelAll(this, flags);
      for (const id of ids) {
        const { session, path } = await namedExperiment(this, given, id);
        const route = 'POST /projects/{project_id}/experiments/{experiment_id}/cancel';
        const cancelled = await session.client.call<typeof cancelExperiment>(route, { path });
        if (isJson) this.printer.json(cancelled);
        else this.printer.say(`${path.experiment_id} ${cancelled.status}`);
      }
    },
  }),
  '(ID... | --all)',
);

interface Flags extends ProjectFlags {
  all?: boolean;
}

/** Cancel all unfinished trainings of a project. */
async function cancelAll(context: CliContext, { project: given, json: isJson }: Flags): Promise<void> {
  const session = await connect(context.env);
  const { project_id, project_name } = await requireProject(session, context.folder, given);
  const route = 'POST /projects/{project_id}/experiments/cancel';
  let cancelled = 0;
  let isComplete = false;
  while (!isComplete) {
    const answer = await session.client.call<typeof cancelExperiments>(route, { path: { project_id } });
    cancelled += answer.cancelled;
    isComplete = answer.complete;
  }
  if (isJson) context.printer.json({ cancelled });
  else
    context.printer.say(
      `Cancelled ${cancelled} ${cancelled === 1 ? 'experiment' : 'experiments'} of ${project_name}.`,
    );
}
