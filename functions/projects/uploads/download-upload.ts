import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import { readProjectObjects } from '../../../shared/aws/needs.ts';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import { Sha256 } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import {
  findDataset,
  findSource,
  isAccepted,
  type Upload,
  uploadObject,
} from '../../../shared/data/projects/upload.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { redirect } from '../../../shared/http/definition/endpoint-output.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { datasetPath } from './upload.ts';
import { headBytes, uploadedFormat } from './uploaded-format.ts';

type Kind = 'source' | 'dataset';
type Format = Upload['format'];

const resources = {
  source: {
    name: 'downloadSource',
    path: '/projects/{project_id}/source/file',
    parameters: projectPath,
    summary: 'Download the source archive of a project',
    before: 'the `source_sha256` of an experiment',
  },
  dataset: {
    name: 'downloadDataset',
    path: '/projects/{project_id}/datasets/{dataset}/file',
    parameters: datasetPath,
    summary: 'Download a data set',
    before: 'the `dataset_sha256` of an experiment',
  },
} as const;

const mediaTypes: Readonly<Record<Format, string>> = {
  'tar.gz': 'application/gzip',
  tar: 'application/x-tar',
  zip: 'application/zip',
  file: 'application/octet-stream',
};

/** Return the format of an earlier version by its first bytes, because it has no record. */
async function formatOf(objects: ObjectReader, key: string): Promise<Format | undefined> {
  const stream = await objects.read(key, { first: 0, last: headBytes - 1 });
  return stream && (uploadedFormat(await buffer(stream)) ?? 'file');
}

/**
 * Return the file name: `digits` becomes `digits.tar.gz`; a name with its own extension, such as `digits.npz`,
 * stays.
 */
const fileNameOf = (name: string, format: Format): string =>
  format === 'file' || name.includes('.') ? name : `${name}.${format}`;

interface Wanted {
  kind: Kind;
  project_id: string;
  name: string;
  /** Hash of an earlier version; undefined for the current one. */
  sha256: string | undefined;
}

/** Find hash and format of the requested version; undefined if it does not exist. */
async function findVersion(
  records: TableReader<'records'>,
  objects: ObjectReader,
  { kind, project_id, name, sha256 }: Wanted,
): Promise<Pick<Upload, 'sha256' | 'format'> | undefined> {
  const current =
    kind === 'source' ? await findSource(records, project_id) : await findDataset(records, project_id, name);
  if (current === undefined || sha256 === undefined || sha256 === current.sha256) return current;
  if (!(await isAccepted(records, kind, project_id, sha256))) return undefined;
  const format = await formatOf(objects, uploadObject(kind, project_id, sha256));
  return format && { sha256, format };
}

const noVersion = ({ kind, name, sha256 }: Wanted): ServiceError => {
  const what = kind === 'source' ? 'source' : `data set ${name}`;
  return new ServiceError(
    'not-found',
    `There is no ${what}${sha256 === undefined ? '' : ` with the SHA-256 ${sha256}`} in this project.`,
  );
};

/** The endpoint that downloads a source or a data set. */
export function downloadUploadEndpoint<K extends Kind>(kind: K) {
  const { name, path, parameters, summary, before } = resources[kind];
  return defineEndpoint({
    name,
    method: 'GET',
    path,
    summary,
    description: 'Redirects to a URL that is valid for 15 minutes.',
    allow: 'viewer',
    project: 'viewer',
    needs: { records: readRecords, objects: readProjectObjects },
    input: {
      path: parameters,
      query: z.strictObject({
        sha256: Sha256.optional().describe(
          `SHA-256 digest of an earlier version, such as ${before}. Default: the current version.`,
        ),
      }),
    },
    output: { 302: redirect },

    async handle(input, { records, objects }) {
      const { project_id, ...rest } = input.path;
      const named = 'dataset' in rest ? String(rest.dataset) : 'source';
      const wanted = { kind, project_id, name: named, sha256: input.query.sha256 };
      const version = await findVersion(records, objects, wanted);
      if (version === undefined) throw noVersion(wanted);
      const { sha256, format } = version;
      const url = await objects.presignDownload(
        uploadObject(kind, project_id, sha256),
        fileNameOf(named, format),
        mediaTypes[format],
      );
      return Reply.redirect(url);
    },
  });
}
