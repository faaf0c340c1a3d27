import { Problem } from '../../shared/endpoint/problem.ts';

/** 409 for a training that does not know what to run. */
export const noEnvironment = (): Problem =>
  new Problem(
    'conflict',
    'The project has no environment yet: PUT /projects/{project_id}/environment says what to run, and in what.',
  );
