import { ServiceError } from '../../../shared/core/service-error.ts';

/** 409 for a training that does not know what to run. */
export const noEnvironment = (): ServiceError =>
  new ServiceError(
    'conflict',
    'The project has no environment yet: PUT /projects/{project_id}/environment says what to run, and in what.',
  );
