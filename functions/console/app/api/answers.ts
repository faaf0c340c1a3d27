import type { AnswerOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as listExperiments } from '../../../experiments/search/list-experiments.endpoint.ts';
import type { endpoint as readProject } from '../../../projects/projects/read-project.endpoint.ts';

/** Answer types of the service, derived from its endpoint definitions. */
export type ProjectDetails = Extract<AnswerOf<typeof readProject>, { experiments: number }>;
export type Experiment = RowOf<typeof listExperiments>;
/** Fields of an experiment for a table. The other fields would be most of the bytes. */
export const rowFields =
  'experiment_id,project_id,user,name,kind,status,status_reason,config_id,created_at,started_at,stopped_at,duration,cost,best,params,tags,metrics,sweep_id,trial,outcome,sparkline,warnings';
