import * as z from 'zod';
import { parseConfig } from '../../../shared/config/parse-config.ts';
import { badRequest, type ParameterFault, ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { requireSweep, type Sweep } from '../../../shared/data/sweeps/sweep.ts';
import { readSweepConfig } from '../../../shared/data/sweeps/sweep-run.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { scalarPaths } from '../../../shared/experiments/config-params.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { faultsOfFixed, faultsOfNames } from '../../../shared/sweeps/spec/sweep-faults.ts';
import { sweepFields } from '../../../shared/sweeps/spec.ts';
import { beginAsked, specOf } from '../../../shared/sweeps/trials/advance-sweep.ts';
import type { Params } from '../../../shared/sweeps/types.ts';
import { creatingExperiment, experimentAnswers } from '../../../shared/training/record-experiment.ts';
import { decodeStored } from '../../../shared/training/stored-text.ts';
import { decidingNeeds, sweepPath } from './sweep.ts';

const Asked = z.strictObject({
  params: sweepFields.start
    .unwrap()
    .element.describe(
      'Values by parameter, such as `{"optimizer.lr": 0.01}`. Those left out stay as they are.',
    ),
});

export const endpoint = defineEndpoint({
  name: 'createTrial',
  method: 'POST',
  path: '/projects/{project_id}/sweeps/{sweep_id}/trials',
  summary: 'Begin a trial whose values the client chooses',
  description:
    'For a sweep with the method `external`: Optuna, Ax or a person decides which values come next. The answer is the experiment of the first repeat. 409 while as many run as may run at once.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  needs: { ...decidingNeeds, accounts: readUsers },
  input: { path: sweepPath, body: fields(Asked) },
  work: 'page: with TPE and grids no trial is asked for, so it reads those that run',
  output: { 200: ExperimentAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],
  etag: true,
  idempotent: creatingExperiment,

  async handle({ path, body: { params } }, context) {
    const { records } = context;
    const sweep = await requireSweep(records, path.project_id, path.sweep_id);
    const { method } = specOf(sweep);
    if (method !== 'external')
      throw new ServiceError('conflict', `The sweep chooses its trials itself: its method is ${method}.`);
    const faults = await faultsOfParams(records, sweep, params);
    if (faults.length > 0) throw badRequest(faults);
    const { experiment_id } = await beginAsked(context, path, params);
    const { answer } = experimentAnswers(context);
    return answer(await requireExperiment(records, path.project_id, experiment_id));
  },
});

/** Return the faults of values: by the parameters of the sweep, or by its configuration if it names none. */
async function faultsOfParams(
  records: TableReader<'records'>,
  sweep: Sweep,
  params: Params,
): Promise<ParameterFault[]> {
  const { parameters, args } = specOf(sweep);
  const inBody = (faults: readonly { name: string; message: string }[]) =>
    faults.map(({ name, message }): ParameterFault => ({ in: 'body', name, message }));
  if (Object.keys(parameters).length > 0)
    return inBody(faultsOfFixed('params', params, parameters, 'external'));
  if (args) return [];
  const { config_id } = sweep.inputs;
  const content = (await readSweepConfig(records, sweep)) ?? new Uint8Array();
  const parsed = await parseConfig({ config_id, content: decodeStored(config_id, content) });
  const paths = 'fault' in parsed ? [] : scalarPaths(parsed.data);
  const named = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, { value }]));
  return inBody(faultsOfNames({ parameters: named }, config_id, paths)).map((fault) => ({
    ...fault,
    name: fault.name.replace(/^parameters/, 'params'),
  }));
}
