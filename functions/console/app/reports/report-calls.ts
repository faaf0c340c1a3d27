import type { AnswerOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as createReport } from '../../../projects/reports/create-report.endpoint.ts';
import type { endpoint as deleteReport } from '../../../projects/reports/delete-report.endpoint.ts';
import type { endpoint as listReports } from '../../../projects/reports/list-reports.endpoint.ts';
import type { endpoint as readReport } from '../../../projects/reports/read-report.endpoint.ts';
import type { endpoint as readReportBlock } from '../../../projects/reports/read-report-block.endpoint.ts';
import type { endpoint as updateReport } from '../../../projects/reports/update-report.endpoint.ts';
import { all, call, open } from '../api/calls.ts';
import { openArtifact } from '../api/experiments.ts';

export type Report = AnswerOf<typeof readReport>;
export type ReportHead = RowOf<typeof listReports>;
export type Block = AnswerOf<typeof readReportBlock>;
export type BlockData<K extends Block['data']['kind']> = Extract<Block['data'], { kind: K }>;

interface ReportPath {
  project_id: string;
  report_id: string;
}
const at = '/projects/{project_id}/reports/{report_id}' as const;

export const loadReports = (project_id: string): Promise<ReportHead[]> =>
  all<typeof listReports>('GET /projects/{project_id}/reports', { path: { project_id } });

export const addReport = (project_id: string, body: { title: string; text: string }): Promise<Report> =>
  call<typeof createReport>('POST /projects/{project_id}/reports', { path: { project_id }, body });

/** Return a report with the tag of its version. */
export async function loadReport(path: ReportPath): Promise<{ report: Report; tag: string }> {
  const response = await open<typeof readReport>(`GET ${at}`, { path });
  return { report: (await response.json()) as Report, tag: response.headers.get('etag') ?? '*' };
}

/** Change a report if it still has the version of this tag. @throws ProblemError 412 if it has not */
export const changeReport = (path: ReportPath, tag: string, body: { title?: string; text?: string }) =>
  call<typeof updateReport>(`PATCH ${at}`, { path, body, headers: { 'If-Match': tag } });

export const removeReport = (path: ReportPath) => call<typeof deleteReport>(`DELETE ${at}`, { path });

/** Reads what the blocks of a report show. */
export interface BlockReader {
  /** Id of the project if its other pages can be opened. */
  project_id: string | undefined;
  read(number: number): Promise<Block>;
  picture(picture: BlockData<'picture'>): Promise<Blob>;
}

/** Read one block after the other, because a report may have many and a new deployment takes few requests at a time. */
export function inTurn(read: BlockReader['read']): BlockReader['read'] {
  let last: Promise<unknown> = Promise.resolve();
  return (number) => {
    const next = last.then(() => read(number));
    last = next.catch(() => undefined);
    return next;
  };
}

export const blockReader = (path: ReportPath): BlockReader => ({
  project_id: path.project_id,
  read: inTurn((number) =>
    call<typeof readReportBlock>(`GET ${at}/blocks/{block}/data`, {
      path: { ...path, block: String(number) },
    }),
  ),
  picture: async ({ run, path: file }) => {
    const { project_id } = path;
    return (await openArtifact({ project_id, experiment_id: run.experiment_id }, file)).blob();
  },
});
