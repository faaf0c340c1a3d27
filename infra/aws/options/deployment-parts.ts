import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';
import type { LoadedTask } from '../../service/tasks.ts';

/** Endpoints, events, jobs and bundles from which the stacks are made. */
export interface DeploymentParts {
  endpoints: readonly AnyEndpoint[];
  events: readonly LoadedTask[];
  jobs: readonly LoadedTask[];
  /** Folder of a function's bundle. @throws where there is none */
  folderOf(name: string): string;
  /** Folder from which the image of the jobs is built. */
  imageFolder: string;
}
