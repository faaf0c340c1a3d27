import { badRequest, notFound } from '../../../shared/core/service-error.ts';
import { listArtifacts, projectOfArtifact } from '../../../shared/data/experiments/artifact.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { ExportRequest } from './export-request.ts';

/**
 * Return the project in which an export runs: that of the experiment with the files, or the one that the request names.
 * @throws ServiceError 400 without a project, or with another one than that of the experiment; `not-found` without files
 */
export async function projectOfExport(
  records: TableReader<'records'>,
  { project_id, source }: Pick<ExportRequest, 'project_id' | 'source'>,
): Promise<string> {
  const fault = (message: string) => badRequest([{ in: 'body', name: 'project_id', message }]);
  if ('hf' in source) {
    if (project_id === undefined) throw fault('is required with source.hf');
    return project_id;
  }
  const { experiment_id, path } = source;
  const below = path === '' ? '' : `${path}/`;
  const { items } = await listArtifacts(records, experiment_id, { limit: 1, after: below || undefined });
  const [first] = items;
  if (first === undefined || !first.path.startsWith(below))
    throw notFound('artifact', below || experiment_id);
  const home = projectOfArtifact(first);
  if (project_id !== undefined && project_id !== home) throw fault('must be the project of the experiment');
  return home;
}
