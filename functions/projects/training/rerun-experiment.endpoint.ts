import * as z from 'zod';
import { controlBatch } from '../../../shared/aws/needs.ts';
import { FileId } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { type Experiment, requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { sizeRange } from '../../../shared/data/jobs/size-range.ts';
import { environmentFields } from '../../../shared/data/projects/environment-rules.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { flag, integer } from '../../../shared/http/definition/parameters.ts';
import { type Admitted, answerAdmitted } from '../../../shared/jobs/admission.ts';
import { budgetParameter } from '../../../shared/jobs/budget-answer.ts';
import { capacityParameter, sizeBounds } from '../../../shared/jobs/size.ts';
import { ownRules } from '../../../shared/run-rules/recorded-rule.ts';
import {
  checkpointsKept,
  creatingExperiment,
  experimentAnswers,
  recordExperiment,
} from '../../../shared/training/record-experiment.ts';
import { overridesParameter, rerunInputs } from './rerun-inputs.ts';
import { rulesParameter } from './rules-parameter.ts';
import { auditedParameters, trackedParameters } from './tracked-parameters.ts';

export const endpoint = defineEndpoint({
  name: 'rerunExperiment',
  method: 'POST',
  path: '/projects/{project_id}/experiments/{experiment_id}/rerun',
  summary: 'Start a new experiment with the inputs of an ended one',
  description:
    'Configuration, source, environment, data set, size and timeout are those of the earlier experiment, except what the query changes. Later changes of the project have no effect, except that the rules of the project are its present ones. The checkpoints of the earlier experiment are in CHECKPOINT_DIR, however it ended.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: auditedParameters },
  needs: { records: writeRecords, accounts: readUsers, batch: controlBatch, keys: readVariablesKey },
  input: {
    path: experimentPath,
    query: z.strictObject({
      config: FileId.optional().describe(
        'File name of another configuration, such as `train.yaml`, whose current version is used. Default: the earlier experiment’s own copy.',
      ),
      overrides: overridesParameter.describe(
        'Values to replace, as a JSON object: of the configuration by their paths, such as `{"optimizer.lr":0.003}`, of the command by their flags, such as `{"--lr":0.4}`. A path that the configuration lacks is the flag of that name; `null` removes a flag.',
      ),
      command: environmentFields.entry_point_command
        .optional()
        .describe('Another command, such as `python train.py --resume`.'),
      fresh: flag.optional().describe('`true` starts without the checkpoints of the earlier experiment.'),
      nodes: integer(...sizeRange.nodes)
        .optional()
        .describe(
          'Number of nodes, if the earlier experiment ran on a cluster. Default: the earlier number.',
        ),
      vcpus: sizeBounds.vcpus
        .optional()
        .describe('vCPUs of each node, such as `4`. Default: as in the earlier experiment.'),
      memory: sizeBounds.memory
        .optional()
        .describe('Memory of each node in MiB, such as `8192`. Default: as in the earlier experiment.'),
      gpus: integer(...sizeRange.gpus)
        .optional()
        .describe('GPUs of each node. Default: as in the earlier experiment.'),
      timeout: sizeBounds.timeout
        .optional()
        .describe('Seconds for the command of an attempt. Default: as in the earlier experiment.'),
      capacity: capacityParameter.capacity.describe(
        'Where it runs: `spot`, `spot-then-on-demand` or `on-demand`. Default: as in the earlier experiment.',
      ),
      ...budgetParameter,
      ...rulesParameter,
      ...trackedParameters,
      dataset: FileId.optional().describe(
        'Name of another data set, whose current version is used. Default: the data of the earlier experiment.',
      ),
    }),
  },
  output: { 200: ExperimentAnswer },
  problems: ['conflict'],
  etag: true,
  idempotent: creatingExperiment,

  async handle({ path, query }, context) {
    const { records, settings } = context;
    const earlier = await requireExperiment(records, path.project_id, path.experiment_id);
    const inputs = await rerunInputs(records, earlier, query, settings);
    const { budget, rules = ownRules(earlier.rules), name, note, tags } = query;
    let admitted: Admitted<Experiment>;
    try {
      admitted = await recordExperiment({ ...inputs, budget, rules, tracked: { name, note, tags } }, context);
    } catch (cause) {
      if (!checkpointsKept.failedIn(cause)) throw cause;
      const detail = 'The experiment with the checkpoints to start from has just been deleted.';
      throw new ServiceError('conflict', detail, { cause });
    }
    return answerAdmitted(admitted, experimentAnswers(context), context);
  },
});
