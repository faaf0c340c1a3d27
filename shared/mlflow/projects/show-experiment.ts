import type { Project } from '../../data/projects/project.ts';
import { artifactRootOf } from '../protocol/ids.ts';
import { pairsOf } from '../protocol/scalars.ts';

/** Show a project in MLflow's format: as an experiment. */
export const showExperiment = (project: Project): object => ({
  experiment_id: project.project_id,
  name: project.project_name,
  artifact_location: artifactRootOf(project.project_id),
  lifecycle_stage: lifecycleOf(project),
  creation_time: Date.parse(project.created_at),
  last_update_time: Date.parse(project.updated_at),
  tags: pairsOf(tagsOfProject(project)),
});

export const lifecycleOf = ({ deleted_at }: { deleted_at?: string | undefined }): 'active' | 'deleted' =>
  deleted_at === undefined ? 'active' : 'deleted';

/** Tags of a project in MLflow's format. */
export const tagsOfProject = ({ project_description, tags = {} }: Project): Record<string, string> => ({
  ...tags,
  ...(project_description !== '' && { [noteTag]: project_description }),
});

/** Tag in which MLflow's clients store the description of an experiment or run. */
export const noteTag = 'mlflow.note.content';
