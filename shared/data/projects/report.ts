import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { notFound, ServiceError } from '../../core/service-error.ts';
import { line } from '../../core/text/text-rules.ts';
import { type Experiment, experimentKey } from '../experiments/experiment.ts';
import { fieldsKey } from '../experiments/tracking.ts';
import type { Sweep } from '../sweeps/sweep.ts';
import { recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { countUpTo, projectExists } from './project.ts';

const report = recordType('report', () =>
  z.object({
    report_id: Ulid,
    project_id: Ulid,
    title: z.string(),
    /** What its blocks name. It cannot be deleted. */
    experiments: z.array(Ulid),
    sweeps: z.array(Ulid),
    views: z.array(z.string()),
    /** Times at which its blocks were frozen, by the digests of their texts. */
    frozen: z.record(Sha256, Timestamp),
    updated_by: Ulid,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);
/** A page of a project, without its text. */
export type Report = z.infer<typeof report.schema>;

/** Text of a report, in an item of its own, so a list reads none. */
const reportText = recordType('report-text', () => z.object({ text: z.string() }));

/** Data of a frozen block, as JSON. */
const frozenBlock = recordType('frozen-block', () => z.object({ data: z.string() }));

/** Maximum reports of a project. */
export const maxReports = 100;
/** Maximum bytes of a report's text, and of the data of a frozen block. All data of a report fit into one transaction. */
export const textMaxBytes = 64 * 1024;
export const frozenMaxBytes = 200_000;

/** Title and text of a report in requests and archives. */
export const ReportTitle = line(200);
export const ReportText = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= textMaxBytes, `exceeds the maximum of ${textMaxBytes} bytes`);

/** Return the partitions of the reports of a project. */
export const projectReportPartitions = (project_id: string): string[] => [
  headsPartition(project_id),
  partsPartition(project_id),
];
const headsPartition = (project_id: string): string => `REPORTS#${project_id}`;
const partsPartition = (project_id: string): string => `REPORT_PARTS#${project_id}`;

interface ReportIds {
  project_id: string;
  report_id: string;
}

const headKey = ({ project_id, report_id }: ReportIds): Key => ({
  pk: headsPartition(project_id),
  sk: report_id,
});
const partKey = ({ project_id, report_id }: ReportIds, part: string): Key => ({
  pk: partsPartition(project_id),
  sk: `${report_id}#${part}`,
});
const textPart = 'TEXT';

/** Return a page of the reports of a project, newest first. */
export async function listProjectReports(
  records: TableReader<'records'>,
  project_id: string,
  page: { limit: number; after: string | undefined },
): Promise<Page<Report>> {
  const query = { pk: headsPartition(project_id), descending: true, ...page };
  return readPage(await records.query(query), report.parse);
}

/** Return a report and its text. @throws ServiceError `not-found` */
export async function requireReport(
  records: TableReader<'records'>,
  ids: ReportIds,
): Promise<{ report: Report; text: string }> {
  const [head, text] = await records.batchGet([headKey(ids), partKey(ids, textPart)]);
  if (head === undefined || text === undefined) throw notFound('report', ids.report_id);
  return { report: report.parse(head), text: reportText.parse(text).text };
}

/** Return the data of a frozen block as JSON. */
export const findFrozen = async (
  records: TableReader<'records'>,
  ids: ReportIds,
  digest: string,
): Promise<string | undefined> => (await frozenBlock.find(records, partKey(ids, digest)))?.data;

/** Label of the write that counts reports, and of those on experiments that a report begins to show. */
export const reportCount = new WriteLabel('reports');
export const shownExperiment = new WriteLabel('shown experiment');

/**
 * Build the writes that store a report. An experiment that it begins to name is locked: its record counts the reports
 * that name it, and its version rises, so a deletion that has begun fails.
 * @param frozen data of blocks that are frozen now, by the digests of their texts
 */
export function putReport(
  value: Report,
  text: string,
  frozen: ReadonlyMap<string, string>,
  previous: Report | undefined,
): Write[] {
  return [
    projectExists(value.project_id),
    {
      put: report.item(headKey(value), value),
      if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
    },
    { put: reportText.item(partKey(value, textPart), { text }) },
    ...(previous === undefined
      ? [reportCount.on(countUpTo(maxReports, value.project_id, 'reports', 1))]
      : []),
    ...lockExperiments(value.project_id, previous?.experiments ?? [], value.experiments),
    ...[...frozen].map(([digest, data]) => ({
      put: frozenBlock.item(partKey(value, digest), { data }),
    })),
    ...Object.keys(previous?.frozen ?? {})
      .filter((digest) => !Object.hasOwn(value.frozen, digest))
      .map((digest) => ({ delete: partKey(value, digest) })),
  ];
}

function lockExperiments(project_id: string, before: readonly string[], after: readonly string[]): Write[] {
  const added = after.filter((id) => !before.includes(id));
  const dropped = before.filter((id) => !after.includes(id));
  const lock = (id: string, reports: 1 | -1): Write => ({
    update: experimentKey(project_id, id),
    change: { add: { reports, version: 1 } },
    if: { exists: true },
  });
  return [
    ...added.flatMap((id) => [
      shownExperiment.on(lock(id, 1)),
      shownExperiment.on({ check: fieldsKey(project_id, id), if: { absent: ['deleted_at'] } }),
    ]),
    ...dropped.map((id) => lock(id, -1)),
  ];
}

/**
 * Refuse to delete what a report names. Only what is locked costs a read.
 * @throws ServiceError `conflict` with the titles of the reports
 */
export async function requireUnreported(
  records: TableReader<'records'>,
  project_id: string,
  { experiment, sweep }: { experiment?: Experiment; sweep?: Sweep },
): Promise<void> {
  if ((experiment?.reports ?? 0) + (sweep?.reports ?? 0) === 0) return;
  const { items } = await listProjectReports(records, project_id, { limit: maxReports, after: undefined });
  const titles = items
    .filter(
      ({ experiments, sweeps }) =>
        experiments.includes(experiment?.experiment_id ?? '') || sweeps.includes(sweep?.sweep_id ?? ''),
    )
    .map(({ title }) => JSON.stringify(title));
  const what = experiment === undefined ? 'sweep' : 'experiment';
  throw new ServiceError(
    'conflict',
    `The ${what} is shown in the report ${titles.slice(0, 3).join(', ')}. Remove it from the report first.`,
  );
}

/** Build the writes that remove a report. They fail if it has changed since the read. */
export const removeReport = (value: Report): Write[] => [
  { delete: headKey(value), if: { equals: { version: value.version } } },
  { delete: partKey(value, textPart) },
  ...Object.keys(value.frozen).map((digest) => ({ delete: partKey(value, digest) })),
  ...lockExperiments(value.project_id, value.experiments, []),
  countUpTo(maxReports, value.project_id, 'reports', -1),
];
