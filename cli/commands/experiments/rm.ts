import type { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import { findExperiment } from '../../experiments/find-experiment.ts';
import { agree } from '../../login/ask.ts';
import { connect } from '../../login/connect.ts';
import { experimentIdOf } from '../arguments.ts';
import { command } from '../command.ts';
import { json, project, yes } from '../flags.ts';

export const rmCommand = command({
  brief: 'Delete ended experiments with their logs, metrics and artifacts',
  help: 'Example:\n  mps rm 4k8f --yes',
  args: [{ ...experimentIdOf('Experiments to delete'), several: 1 }],
  flags: { yes, project, json },
  aliases: { y: 'yes', p: 'project' },
  async run({ yes: isSure, project: given, json: isJson }, ...ids) {
    const session = await connect(this.env);
    // Find all experiments before the first deletion, because a deletion changes the meaning of `latest`.
    const found = new Map<string, Experiment>();
    for (const id of ids) {
      const experiment = await findExperiment(session, this.folder, { project: given, id });
      found.set(experiment.experiment_id, experiment);
    }
    let deleted = 0;
    for (const experiment of found.values()) {
      const { project_id, experiment_id } = experiment;
      const question = `Delete ${experiment_id} (${experiment.name}, ${experiment.artifacts} files)?`;
      if (!isSure) await agree(this, question, deleted === 0 ? 'Nothing was deleted.' : 'The others stay.');
      const route = 'DELETE /projects/{project_id}/experiments/{experiment_id}';
      const removed = await session.client.call<typeof deleteExperiment>(route, {
        path: { project_id, experiment_id },
      });
      deleted += 1;
      if (isJson) this.printer.json(removed);
      else this.printer.say(`Deleted ${experiment_id}: ${bytesText(removed.deleted.bytes)} freed.`);
    }
  },
});
