import type { Project } from '../../data/projects/project.ts';
import type { Vocabulary } from '../../search/vocabulary.ts';
import { tagsOfProject } from './show-experiment.ts';

const created = { type: 'time', read: ({ created_at }: Project) => Date.parse(created_at) } as const;
const updated = { type: 'time', read: ({ updated_at }: Project) => Date.parse(updated_at) } as const;

/** What filters and orders of experiments may name. */
export const experimentVocabulary: Vocabulary<Project> = {
  attributes: {
    name: { type: 'text', read: ({ project_name }) => project_name },
    experiment_id: { type: 'text', read: ({ project_id }) => project_id },
    creation_time: created,
    last_update_time: updated,
  },
  groups: { tags: { type: 'text', read: (project, key) => tagsOfProject(project)[key] } },
  groupAliases: { tag: 'tags' },
};
