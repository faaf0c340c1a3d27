import { join } from 'node:path';
import type { endpoint as listDatasets } from '../../functions/projects/uploads/list-datasets.endpoint.ts';
import type { endpoint as putDataset } from '../../functions/projects/uploads/put-dataset.endpoint.ts';
import type { endpoint as requestDatasetUpload } from '../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { dataLimits } from '../../shared/archive/archive-limits.ts';
import type { Client } from '../../shared/client/client.ts';
import { partedBytes } from '../../shared/client/node/send-by-ticket.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import type { AnswerOf } from '../../shared/client/route.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { inspectFiles, leftOutText } from '../run/source/inspect-files.ts';
import { listDataFiles } from '../run/source/list-files.ts';
import { packFiles } from '../run/source/pack-files.ts';
import { type DigestedFile, digestFile } from './digest-file.ts';
import { withScratchFolder } from './scratch-folder.ts';
import type { Upload } from './send-unless-known.ts';

/** Return the requests that upload a file as a data set. With `asFile`, the service does not unpack an archive. */
export function datasetUpload(
  client: Client,
  path: { project_id: string; dataset: string },
  { sha256, size }: DigestedFile,
  { asFile, signal }: { asFile: boolean; signal: AbortSignal },
): Upload<AnswerOf<typeof putDataset>> {
  return {
    async current() {
      const route = 'GET /projects/{project_id}/datasets';
      const { project_id } = path;
      for await (const one of client.rows<typeof listDatasets>(route, { path: { project_id }, signal }))
        if (one.dataset === path.dataset) return one.sha256;
      throw new ProblemError(404, {}, `There is no data set ${path.dataset}.`);
    },
    accept() {
      const route = 'PUT /projects/{project_id}/datasets/{dataset}';
      const query = { sha256, ...(asFile && { format: 'file' as const }) };
      return client.call<typeof putDataset>(route, { path, query, signal });
    },
    async ticket() {
      const route = 'POST /projects/{project_id}/datasets/{dataset}';
      const multipart = size >= partedBytes;
      const query = { sha256, size, ...(multipart && { multipart }) };
      return client.call<typeof requestDatasetUpload>(route, { path, query, signal });
    },
  };
}

/** Call `use` with a data file, or with a temporary archive of a data folder. */
export async function withDataFile<T>(
  path: string,
  { isFolder, signal, onStep }: Preparing,
  use: (file: DigestedFile) => Promise<T>,
): Promise<T> {
  if (!isFolder) {
    onStep('reading…');
    return use(await digestFile(path, signal));
  }
  onStep('packing…');
  const { files, folders, leftOut } = await inspectFiles(path, await listDataFiles(path), dataLimits);
  if (leftOut.length > 0)
    throw new CliError(
      `Data sets contain files only. List these paths in .mpsignore or replace them:\n${leftOut.map((one) => `  ${leftOutText(one)}`).join('\n')}`,
      exitCodes.usage,
    );
  if (files.length === 0) throw new CliError(`${path} has no files.`, exitCodes.usage);
  // Most data is already compressed, or so large that compression takes longer than the upload.
  const packing = { signal, isCompressed: false };
  return withScratchFolder(async (scratch) =>
    use(await packFiles(path, { files, folders }, join(scratch, 'data.tar'), packing)),
  );
}

interface Preparing {
  isFolder: boolean;
  signal: AbortSignal;
  /** Called with a message before each slow step. */
  onStep(text: string): void;
}
