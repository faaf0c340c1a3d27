import { badRequest, ServiceError } from '../core/service-error.ts';
import { findExperiments } from '../data/experiments/experiment.ts';
import type { Project } from '../data/projects/project.ts';
import {
  frozenMaxBytes,
  maxReports,
  putReport,
  type Report,
  reportCount,
  shownExperiment,
} from '../data/projects/report.ts';
import { changedSweep, findSweep, lockSweeps } from '../data/sweeps/sweep.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import type { ViewReading } from '../experiments/search/experiments-of-view.ts';
import { digestOfBlock } from './block-data.ts';
import { blocksOf, namedIn, parseReport } from './parse-report.ts';
import { presentData } from './read-block.ts';

/**
 * Store a report, and the data of blocks that are frozen from now on. What its new and changed blocks name must be in the
 * project, and is locked. Other blocks may name what is gone, as those of an archive that came without its sweeps.
 * @param previous the report before, with its text
 * @param also further writes of the transaction
 * @throws ServiceError `bad-request` with all faults of the text, `conflict` if the project has too many reports
 * @throws ConditionFailedError if the report was changed in between, or the project is gone
 */
export async function storeReport(
  { records, accounts, now }: ViewReading & { records: TableWriter<'records'> },
  project: Project,
  value: Omit<Report, 'experiments' | 'sweeps' | 'views' | 'frozen' | 'updated_at' | 'project_id'>,
  {
    text,
    previous: { report: previous, text: before = '' } = {},
    also = [],
  }: { text: string; previous?: { report?: Report; text?: string }; also?: readonly Write[] },
): Promise<void> {
  const { project_id } = project;
  const { parts, faults } = parseReport(text);
  const blocks = blocksOf(parts);
  const unchanged = new Set(blocksOf(parseReport(before).parts).map(digestOfBlock));
  const judged = namedIn(blocks.filter((block) => !unchanged.has(digestOfBlock(block))));
  for (const name of judged.views)
    if (!project.views?.some((view) => view.name === name))
      faults.push(`the project has no view ${JSON.stringify(name)}`);
  for (const id of await missingIn(records, project_id, judged))
    faults.push(`the project has no experiment or sweep ${id}`);
  if (faults.length > 0) throw textFault(faults);
  const at = now().toISOString();
  const kept = previous?.frozen ?? {};
  const frozen: Record<string, string> = {};
  const data = new Map<string, string>();
  for (const block of blocks.filter(({ isFrozen }) => isFrozen)) {
    const digest = digestOfBlock(block);
    if (Object.hasOwn(frozen, digest)) continue;
    frozen[digest] = kept[digest] ?? at;
    if (Object.hasOwn(kept, digest)) continue;
    const present = await presentData({ records, accounts, now }, project, block);
    if (present.kind === 'missing' && unchanged.has(digest)) {
      delete frozen[digest];
      continue;
    }
    if (present.kind === 'missing') faults.push(`line ${block.line}: cannot be frozen. ${present.reason}`);
    const json = JSON.stringify(present);
    if (Buffer.byteLength(json) > frozenMaxBytes)
      faults.push(`line ${block.line}: has too much data to freeze`);
    data.set(digest, json);
  }
  if (faults.length > 0) throw textFault(faults);
  const named = namedIn(blocks);
  const locked = (kind: keyof typeof named): string[] =>
    named[kind].filter((name) => judged[kind].includes(name) || previous?.[kind].includes(name));
  const report: Report = {
    ...{ ...value, project_id, frozen, updated_at: at },
    ...{ experiments: locked('experiments'), sweeps: locked('sweeps'), views: locked('views') },
  };
  const write = async (): Promise<void> =>
    records.write(
      ...putReport(report, text, data, previous),
      ...(await lockSweeps(records, project_id, previous?.sweeps ?? [], report.sweeps, now())),
      ...also,
    );
  try {
    // A sweep that goes on changes with each of its trials.
    await retryOnConflict(write, { isConflict: (error) => error.isOnly(changedSweep) });
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
    if (error.isOnly(shownExperiment))
      throw textFault(['names an experiment that the project does not have, or that is deleted']);
    if (!error.isOnly(reportCount)) throw error;
    const full = `The project has the maximum of ${maxReports} reports. Delete one first.`;
    throw new ServiceError('conflict', full, { cause: error });
  }
}

/** Return ids of what the project does not have. */
async function missingIn(
  records: TableWriter<'records'>,
  project_id: string,
  { experiments, sweeps }: ReturnType<typeof namedIn>,
): Promise<string[]> {
  const [stored, present] = await Promise.all([
    findExperiments(records, project_id, experiments),
    Promise.all(sweeps.map((id) => findSweep(records, project_id, id))),
  ]);
  const known = new Set(stored.map(({ experiment_id }) => experiment_id));
  return [
    ...experiments.filter((id) => !known.has(id)),
    ...sweeps.filter((_, index) => present[index] === undefined || present[index].deleting !== undefined),
  ];
}

const textFault = (faults: readonly string[]): ServiceError =>
  badRequest(faults.slice(0, maxFaults).map((message) => ({ in: 'body', name: 'text', message })));
const maxFaults = 20;
