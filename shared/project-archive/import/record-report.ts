import { findArtifact } from '../../data/experiments/artifact.ts';
import { findExperiments } from '../../data/experiments/experiment.ts';
import { nothingTracked, readTrackingOfEach } from '../../data/experiments/tracking.ts';
import { importProgress } from '../../data/projects/project-archives.ts';
import { putReport, type Report, shownExperiment } from '../../data/projects/report.ts';
import type { TableReader } from '../../data/table/table.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { namedIn } from '../../reports/parse-report.ts';
import type { Ids } from '../references.ts';
import { type ImportContext, type ImportPass, importedId } from './import-context.ts';
import type { OpenArchive } from './open-archive.ts';
import { fileAt } from './read-document.ts';
import { type ReadBlock, readReport } from './read-report.ts';

/**
 * Record a report with the data of its frozen blocks, and lock the experiments that it names, in one transaction with the
 * progress of the import. Sweeps are not in the archive, so none is locked. Its author is the importer.
 * @param done number of finished steps afterwards
 * @returns false if the project was deleted or has too many reports
 * @throws ConditionFailedError if another pass continued the import
 */
export async function recordReport(
  { records }: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
  ids: Ids,
  number: number,
  done: number,
): Promise<boolean> {
  const { import_id, project_id, user_id } = pass.value;
  const group = archive.contents.reports[number - 1];
  if (group === undefined) throw new Error(`no report ${number}`);
  const file = fileAt(archive.files, group.document);
  const { title, created_at, updated_at, text, blocks } = await readReport(
    archive,
    archive.read(group.document),
    file,
    ids,
  );
  const { experiments, views } = namedIn(blocks.map(({ block }) => block));
  const ofArchive = new Set(ids.experiments);
  const frozen = blocks.filter((block) => block.data !== undefined);
  const data = new Map<string, string>();
  for (const block of frozen) data.set(block.digest, await storedData(records, ofArchive, block));
  const report: Report = {
    ...{ report_id: importedId(import_id, 'report', number), project_id, title },
    ...{ sweeps: [], views, updated_by: user_id, created_at, updated_at, version: 1 },
    frozen: Object.fromEntries(frozen.map(({ digest, at }) => [digest, at ?? updated_at])),
    experiments: experiments.filter((id) => ofArchive.has(id)),
  };
  for (;;) {
    report.experiments = await presentOf(records, project_id, report.experiments);
    try {
      await pass.save({ done, failures: 0 }, ...putReport(report, text, data, undefined));
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailedError) || importProgress.failedIn(error)) throw error;
      // Its owner deleted an experiment at the same moment.
      if (!error.isOnly(shownExperiment)) return false;
    }
  }
}

type Records = TableReader<'records'>;

/** Return the experiments that its owner has not deleted since they were recorded. */
async function presentOf(records: Records, project_id: string, ids: readonly string[]): Promise<string[]> {
  const stored = await findExperiments(records, project_id, ids);
  const { of } = await readTrackingOfEach(records, stored);
  return stored
    .map(({ experiment_id }) => experiment_id)
    .filter((id) => (of.get(id) ?? nothingTracked).fields?.deleted_at === undefined);
}

/** Return the data of a frozen block as JSON. A picture names its file, which is another one here. */
async function storedData(
  records: Records,
  experiments: ReadonlySet<string>,
  { data }: ReadBlock,
): Promise<string> {
  if (data?.kind !== 'picture') return JSON.stringify(data);
  const { experiment_id } = data.run;
  const artifact = experiments.has(experiment_id)
    ? await findArtifact(records, experiment_id, data.path)
    : undefined;
  return JSON.stringify({ ...data, object: artifact?.object });
}
