import * as z from 'zod';
import { Criterion } from '../projects/project.ts';
import { pagesOf } from '../table/pages-of.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { type SweepIds, sweepPrefix } from './sweep-run.ts';

const rule = recordType('sweep-rule', () =>
  z.object({
    rule: z.enum(['asha', 'median']),
    step_min: z.number().int(),
    reduction: z.number(),
    criterion: Criterion,
    /** Reports so far. A report is written on condition of this number. */
    reports: z.number().int(),
  }),
);
/** When a sweep ends trials early, and how many reports it has had. Containers of its experiments read it. */
export type SweepRule = z.infer<typeof rule.schema>;

const report = recordType('sweep-report', () =>
  z.object({
    /** Number of the run. */
    run: z.number().int(),
    rung: z.number().int(),
    step: z.number(),
    /** Text, because a table has no NaN. */
    value: z.string(),
    /** Number of reports that the decision saw: all with a lower number. */
    order: z.number().int(),
    /** Why the run ends here. Null if it goes on. */
    stopped: z.string().nullable(),
  }),
);
/** Value of a run at a rung, with the decision that it led to. */
export type StoredReport = Omit<z.infer<typeof report.schema>, 'value'> & { value: number };

/** Partition of what the containers of a project's sweeps read and write. */
export const reportsPartition = (project_id: string): string => `SWEEP_REPORTS#${project_id}`;
/** Key pattern of these partitions, for the policy of a role. */
export const reportPatterns = ['SWEEP_REPORTS#*'] as const;

const ruleKey = (sweep: SweepIds): Key => ({
  pk: reportsPartition(sweep.project_id),
  sk: `${sweepPrefix(sweep)}RULE`,
});
const reportPrefix = (sweep: SweepIds): string => `${sweepPrefix(sweep)}REPORT#`;
const reportKey = (sweep: SweepIds, run: number, rung: number): Key => ({
  pk: reportsPartition(sweep.project_id),
  sk: `${reportPrefix(sweep)}${String(run).padStart(6, '0')}#${String(rung).padStart(6, '0')}`,
});

/** Build the write that stores the rule of a new sweep. */
export const putRule = (sweep: SweepIds, value: Omit<SweepRule, 'reports'>): Write => ({
  put: rule.item(ruleKey(sweep), { ...value, reports: 0 }),
});

export const findRule = (records: TableReader<'records'>, sweep: SweepIds): Promise<SweepRule | undefined> =>
  rule.find(records, ruleKey(sweep));

/** Return all reports of a sweep, by run and rung. */
export async function listReports(records: TableReader<'records'>, sweep: SweepIds): Promise<StoredReport[]> {
  const found: StoredReport[] = [];
  for await (const page of pagesOf((after) =>
    records.query({
      pk: reportsPartition(sweep.project_id),
      prefix: reportPrefix(sweep),
      after,
    }),
  )) {
    for (const item of page.items) {
      const parsed = report.parse(item);
      found.push({ ...parsed, value: Number(parsed.value) });
    }
  }
  return found;
}

/** Label of writes that fail if another run has reported since the reports were read. */
export const changedReports = new WriteLabel('reports of the sweep');

/** Build the writes that store a report. They fail if another was stored since the rule was read. */
export const putReport = (
  sweep: SweepIds,
  { reports }: SweepRule,
  value: Omit<StoredReport, 'order'>,
): Write[] => [
  {
    put: report.item(reportKey(sweep, value.run, value.rung), {
      ...value,
      value: String(value.value),
      order: reports,
    }),
    if: { exists: false },
  },
  changedReports.on({
    update: ruleKey(sweep),
    change: { add: { reports: 1 } },
    if: { equals: { reports } },
  }),
];
