import { ulid } from 'ulid';
import type { Project } from '../../shared/data/projects/project.ts';

const at = '2026-01-02T03:04:05.000Z';

/** A project of somebody, as creating it records it. */
export const projectOf = (project_id: string): Project => ({
  project_id,
  project_name: 'p',
  project_description: 'd',
  project_type: 't',
  project_task: 'classification',
  owner: 'o',
  owner_id: ulid().toLowerCase(),
  created_at: at,
  updated_at: at,
  version: 1,
});
