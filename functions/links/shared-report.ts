import { ServiceError } from '../../shared/core/service-error.ts';
import type { Link } from '../../shared/data/projects/link.ts';
import type { Project } from '../../shared/data/projects/project.ts';
import { requireReport } from '../../shared/data/projects/report.ts';
import type { ViewReading } from '../../shared/experiments/search/experiments-of-view.ts';
import { blocksOf, namedIn, parseReport, type ReportBlock } from '../../shared/reports/parse-report.ts';
import { readBlock } from '../../shared/reports/read-block.ts';
import { linkIsGone } from './shared-link.ts';

interface SharedProject {
  link: Link;
  project: Project;
}

/** Return the report that a link shows. @throws ServiceError `not-found` if it is gone, or the link shows no report */
export async function requireSharedReport(
  { records }: Pick<ViewReading, 'records'>,
  { link }: SharedProject,
) {
  const { subject, project_id } = link;
  if (subject.kind !== 'report') throw linkIsGone();
  try {
    return { subject, ...(await requireReport(records, { project_id, report_id: subject.report_id })) };
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'not-found') throw linkIsGone();
    throw error;
  }
}

/**
 * Read a block of a shared report. Who edits the report later does not widen the link: it shows only what the report
 * named when the link was made, and views as they were.
 */
export async function readSharedBlock(reading: ViewReading, shared: SharedProject, number: number) {
  const { subject, report, text } = await requireSharedReport(reading, shared);
  const block = blocksOf(parseReport(text).parts)[number - 1];
  if (block === undefined) throw linkIsGone();
  const named = namedIn([block]);
  const isShared =
    named.experiments.every((id) => subject.experiments.includes(id)) &&
    named.sweeps.every((id) => subject.sweeps.includes(id)) &&
    named.views.every((name) => subject.views.some((view) => view.name === name));
  if (!isShared)
    return {
      frozen_at: null,
      data: { kind: 'missing' as const, reason: 'This block was added after the report was shared.' },
    };
  // What was frozen since may be of a view that was changed before.
  const frozen =
    block.view === undefined
      ? report.frozen
      : Object.fromEntries(
          Object.entries(report.frozen).filter(([, frozen_at]) => frozen_at <= shared.link.created_at),
        );
  return readBlock(reading, { ...shared.project, views: subject.views }, { ...report, frozen }, block);
}

/** Return the path of a picture that a shared report shows. @throws ServiceError `not-found` for any other file */
export async function requireSharedPicture(
  reading: ViewReading,
  shared: SharedProject,
  experiment_id: string,
  path: string,
): Promise<void> {
  const { text } = await requireSharedReport(reading, shared);
  const isPicture = (block: ReportBlock): boolean =>
    block.kind === 'picture' && block.path === path && block.experiments[0] === experiment_id;
  for (const [index, block] of blocksOf(parseReport(text).parts).entries()) {
    if (!isPicture(block)) continue;
    const { data } = await readSharedBlock(reading, shared, index + 1);
    if (data.kind === 'picture') return;
  }
  throw linkIsGone();
}
