import { Client } from '../../../../shared/client/client.ts';
import type { AnswerOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as createLink } from '../../../links/create-link.endpoint.ts';
import type { endpoint as deleteLink } from '../../../links/delete-link.endpoint.ts';
import type { endpoint as downloadSharedFile } from '../../../links/download-shared-file.endpoint.ts';
import type { endpoint as listLinks } from '../../../links/list-links.endpoint.ts';
import type { endpoint as listSharedFiles } from '../../../links/list-shared-files.endpoint.ts';
import type { endpoint as openLink } from '../../../links/open-link.endpoint.ts';
import type { endpoint as readShared } from '../../../links/read-shared.endpoint.ts';
import type { endpoint as readSharedBlock } from '../../../links/read-shared-block.endpoint.ts';
import type { endpoint as readSharedChart } from '../../../links/read-shared-chart.endpoint.ts';
import { all, call } from '../api/calls.ts';
import { serviceUrl } from '../api/session.ts';

export type Link = RowOf<typeof listLinks>;
export type Shared = AnswerOf<typeof readShared>;
export type SharedExperiment = Shared['experiments'][number];
export type SharedFile = RowOf<typeof listSharedFiles>;

/** What a new link shows. */
export type LinkSubject =
  | { kind: 'experiment'; experiment_id: string }
  | { kind: 'comparison'; experiment_ids: string[] }
  | { kind: 'sweep'; sweep_id: string }
  | { kind: 'view'; name: string }
  | { kind: 'report'; report_id: string };

export const addLink = (
  project_id: string,
  body: { subject: LinkSubject; hide: string[]; anonymous: boolean; files: boolean; expires_in: number },
) => call<typeof createLink>('POST /projects/{project_id}/links', { path: { project_id }, body });
export const loadLinks = (project_id: string): Promise<Link[]> =>
  all<typeof listLinks>('GET /projects/{project_id}/links', { path: { project_id } });
export const removeLink = (project_id: string, link_id: string) =>
  call<typeof deleteLink>('DELETE /projects/{project_id}/links/{link_id}', { path: { project_id, link_id } });

/** Calls as the holder of a link, whoever is signed in. */
const client = new Client({ url: serviceUrl, retries: { attempts: 3, seconds: 4 } });

/** Maximum files that the page of a link lists. */
export const maxFiles = 500;

/** Reads what a link shows. */
export interface LinkReader {
  shared: Shared;
  /** Reads a block of a report, by its number. */
  block(number: number): Promise<AnswerOf<typeof readSharedBlock>>;
  chart(experiment: string): Promise<string>;
  files(experiment: string): Promise<SharedFile[]>;
  download(experiment: string, path: string): Promise<Blob>;
}

/** Exchange the secret of a link for a session, and read what it shows. @throws ProblemError 404 if it has ended */
export async function readLink(secret: string): Promise<LinkReader> {
  const { session } = await client.call<typeof openLink>('POST /links/session', { body: { secret } });
  const headers = { Authorization: `Link ${session}` };
  const shared = await client.call<typeof readShared>('GET /links/shared', { headers });
  return {
    shared,
    block: (number) =>
      client.call<typeof readSharedBlock>('GET /links/shared/blocks/{block}', {
        path: { block: String(number) },
        headers,
      }),
    chart: (experiment) =>
      client.text<typeof readSharedChart>('GET /links/shared/chart', 'image/svg+xml', {
        query: { experiment },
        headers,
      }),
    files: async (experiment) => {
      const files: SharedFile[] = [];
      const query = { experiment };
      for await (const file of client.rows<typeof listSharedFiles>('GET /links/shared/files', {
        query,
        headers,
      })) {
        files.push(file);
        if (files.length === maxFiles) break;
      }
      return files;
    },
    download: async (experiment, path) => {
      const response = await client.open<typeof downloadSharedFile>('GET /links/shared/files/{path+}', {
        path: { path },
        query: { experiment },
        headers,
      });
      return response.blob();
    },
  };
}
