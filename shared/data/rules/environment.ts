import { paragraph, paragraphOrBlank } from '../../core/text/text-rules.ts';
import { EnvironmentType } from '../projects/environment.ts';

/** The fields of an environment, each by itself, whoever brings it: a request, or an archive. */
export const environmentFields = {
  entry_point_command: paragraph(4000),
  env_type: EnvironmentType,
  dependencies: paragraphOrBlank(4000),
};
