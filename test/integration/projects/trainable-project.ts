import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import type { TestService, TestUser } from '../../support/service.ts';
import { newProject } from './new-project.ts';

/** Makes a project that has the configuration `train.yaml` and a command that ends at once; answers its id. */
export async function trainableProject(service: TestService, as: TestUser): Promise<string> {
  const project_id = await newProject(service, as);
  await service.call(putConfig, { path: { project_id, config_id: 'train.yaml' }, body: 'lr: 1\n', as });
  const command = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
  await service.call(putEnvironment, { path: { project_id }, query: command, as });
  return project_id;
}
