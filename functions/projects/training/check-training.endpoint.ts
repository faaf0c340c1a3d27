import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import type { ParameterFault } from '../../../shared/core/service-error.ts';
import { findDataset } from '../../../shared/data/projects/upload.ts';
import { requireActiveRoom } from '../../../shared/data/schedules/active-schedules.ts';
import { requireScheduleRoom } from '../../../shared/data/schedules/schedule.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectToChange } from '../../../shared/http/pipeline/project-authorization.ts';
import { requireRoom } from '../../../shared/jobs/admission.ts';
import { budgetFault, minuteFault, ofOneRun } from '../../../shared/jobs/budget.ts';
import { budgetParameter } from '../../../shared/jobs/budget-answer.ts';
import { sizeParameters } from '../../../shared/jobs/size.ts';
import { runsAs } from '../schedules/schedule.ts';
import { rulesParameter } from './rules-parameter.ts';
import { type Estimate, estimatedTraining, estimateParameters, TrainingEstimate } from './sized-training.ts';
import { trackedParameters } from './tracked-parameters.ts';

export const endpoint = defineEndpoint({
  name: 'checkTraining',
  method: 'GET',
  path: '/projects/check-training',
  summary: 'Whether the service would begin a training, sweep or schedule',
  description:
    'Applies all checks of the beginning that need neither the files nor the configuration, so a client learns of a refusal before it uploads them. Begins nothing, and reserves nothing.',
  allow: 'developer',
  right: 'run',
  keepsToProjects: true,
  needs: { records: readRecords },
  input: {
    query: z.strictObject({
      project_id: Ulid.optional().describe(
        'Project of the training. Default: one that is still to be created.',
      ),
      begins: z
        .enum(['training', 'sweep', 'schedule'], 'must be training, sweep or schedule')
        .default('training')
        .describe('What would begin. Default: `training`.'),
      ...estimateParameters,
      dataset: sizeParameters.dataset,
      ...budgetParameter,
      ...rulesParameter,
      ...trackedParameters,
    }),
  },
  output: { 200: TrainingEstimate },
  problems: ['conflict', 'not-found'],

  async handle({ query }, context) {
    const { records, caller, settings, now } = context;
    const { project_id, begins, dataset, budget, ...sizes } = query;
    const project = project_id === undefined ? undefined : await projectToChange(records, project_id, caller);
    if (begins === 'schedule') runsAs(caller);
    const estimate = await estimatedTraining(sizes, settings, async (sized) => [
      ...(await datasetFaults(records, project_id, dataset)),
      ...(sized === undefined && settings.prices !== undefined ? [] : budgetFaults(begins, budget, sized)),
    ]);
    if (begins === 'training')
      await requireRoom(records, { ...estimate, caller, project, budget, at: now() }, settings.limits);
    if (begins === 'schedule') {
      if (project_id !== undefined) await requireScheduleRoom(records, project_id);
      await requireActiveRoom(records, caller.user_id);
    }
    return estimate;
  },
});

async function datasetFaults(
  records: TableReader<'records'>,
  project_id: string | undefined,
  dataset: string | undefined,
): Promise<ParameterFault[]> {
  if (dataset === undefined) return [];
  const isThere = project_id !== undefined && (await findDataset(records, project_id, dataset)) !== undefined;
  if (isThere) return [];
  const message = `names a data set that the project does not have: There is no data set ${dataset}.`;
  return [{ in: 'query', name: 'dataset', message }];
}

/** @param estimate undefined for a size that has no price, as none has one here */
function budgetFaults(
  begins: 'training' | 'sweep' | 'schedule',
  budget: number | undefined,
  estimate: Estimate | undefined,
): ParameterFault[] {
  if (budget === undefined) return [];
  const { cost_estimate = null, timeout = 0 } = estimate ?? {};
  const message =
    begins === 'sweep'
      ? budgetFault(budget, cost_estimate, ofOneRun)
      : minuteFault(budget, { cost_estimate, timeout });
  return message === undefined ? [] : [{ in: 'query', name: 'budget', message }];
}
