import { findEnvironment } from '../../data/projects/environment.ts';
import { requireProject } from '../../data/projects/project.ts';
import { findSource, listDatasets, type Upload } from '../../data/projects/upload.ts';
import { readVariables } from '../../data/projects/variable.ts';
import type { TableReader } from '../../data/table/table.ts';
import type { ProjectDocument } from '../documents.ts';

const current = ({ sha256, format, updated_at, version }: Upload) => ({
  sha256,
  format,
  updated_at,
  version,
});

/** `project.json` of a project. */
export async function readProjectDocument(
  records: TableReader<'records'>,
  project_id: string,
): Promise<ProjectDocument> {
  const project = await requireProject(records, project_id);
  const environment = await findEnvironment(records, project_id);
  const { variables } = await readVariables(records, project_id);
  const source = await findSource(records, project_id);
  const datasets: ProjectDocument['datasets'] = [];
  let after: string | undefined;
  do {
    const page = await listDatasets(records, project_id, { after });
    for (const error of page.unreadable ?? []) throw error;
    datasets.push(...page.items.map((one) => ({ name: one.name, ...current(one) })));
    after = page.next;
  } while (after !== undefined);
  const { project_name, archived_name, project_description, project_type, project_task } = project;
  const { criterion, tags } = project;
  return {
    project_name: archived_name ?? project_name,
    project_description,
    project_type,
    project_task,
    criterion: criterion ?? null,
    tags: tags ?? null,
    environment: environment === undefined ? null : withoutProject(environment),
    variables: variables.flatMap(({ name, value, created_at, updated_at, version }) =>
      value === null ? [] : [{ name, value, created_at, updated_at, version }],
    ),
    source: source === undefined ? null : current(source),
    datasets,
  };
}

const withoutProject = ({
  entry_point_command,
  env_type,
  dependencies,
  updated_at,
  version,
}: NonNullable<ProjectDocument['environment']>) => ({
  entry_point_command,
  env_type,
  dependencies,
  updated_at,
  version,
});
