import type { Capacity } from '../../../shared/core/capacity/capacity.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { findEnvironment } from '../../../shared/data/projects/environment.ts';
import type { Project } from '../../../shared/data/projects/project.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { allowedSize, fargateSize, inBody, type JobSize, nodeSize } from '../../../shared/jobs/size.ts';
import type { TrainingInputs } from '../../../shared/training/record-experiment.ts';
import { currentInputs } from './current-inputs.ts';
import { chooseConfig, type ExpectedInputs } from './expected-inputs.ts';
import { noEnvironment } from './training-endpoint.ts';

/**
 * Return the inputs of the trainings of a sweep or a schedule, as its body and its project determine them.
 * @throws ServiceError 400 for a size that is not offered, `not-found` for a missing configuration or data set, `conflict`
 * without an environment, or if the project has other inputs than the client expects
 */
export async function inputsOfBody(
  body: SizedBody,
  expected: ExpectedInputs,
  { records, project, settings }: { records: TableReader<'records'>; project: Project; settings: Settings },
): Promise<{ inputs: TrainingInputs; isOnNodes: boolean }> {
  const { project_id } = project;
  const { nodes = 1, gpus = 0, timeout, capacity, dataset } = body;
  const kind = nodes > 1 ? ('train-remote' as const) : ('train' as const);
  const isOnNodes = nodes > 1 || gpus > 0;
  const complete = () => (isOnNodes ? nodeSize(body, settings) : fargateSize(body));
  const demand = { kind, timeout, nodes, gpus, capacity };
  const size = inBody(() => allowedSize(complete, demand, settings));
  const [config, environment] = await Promise.all([
    chooseConfig(records, project_id, body.config),
    findEnvironment(records, project_id),
  ]);
  if (environment === undefined) throw noEnvironment();
  const inputs = await currentInputs(
    { kind, config, environment, size, nodes, timeout, dataset, git: null, expected },
    { records, project, settings },
  );
  return { inputs, isOnNodes };
}

interface SizedBody extends Partial<Record<keyof JobSize, number | undefined>> {
  config?: string | undefined;
  nodes?: number | undefined;
  timeout?: number | undefined;
  capacity?: Capacity | undefined;
  dataset?: string | undefined;
}
