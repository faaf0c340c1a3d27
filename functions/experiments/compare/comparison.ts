import { notFound } from '../../../shared/core/service-error.ts';
import {
  type Experiment,
  experimentKey,
  parseExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import {
  nothingTracked,
  readTrackingOfEach,
  type Tracking,
} from '../../../shared/data/experiments/tracking.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { commandOf } from '../../../shared/experiments/command-facts.ts';

/** An experiment with its params, metrics and tags. */
export interface FoundRecords {
  experiment: Experiment;
  tracking: Tracking;
}

/**
 * Read these experiments of a project, in their order, with two reads.
 * @throws ServiceError `not-found` for a missing one; UnreadableRecordError
 */
export async function readCompared(
  records: TableReader<'records'>,
  project_id: string,
  experiment_ids: readonly string[],
): Promise<FoundRecords[]> {
  const pairs = experiment_ids.map((experiment_id) => ({ project_id, experiment_id }));
  const [items, tracked] = await Promise.all([
    records.batchGet(experiment_ids.map((id) => experimentKey(project_id, id))),
    readTrackingOfEach(records, pairs),
  ]);
  for (const error of tracked.unreadable) throw error;
  return experiment_ids.map((experiment_id, index) => {
    const item = items[index];
    if (item === undefined) throw notFound('experiment', experiment_id);
    return { experiment: parseExperiment(item), tracking: tracked.of.get(experiment_id) ?? nothingTracked };
  });
}

type Cell = string | number | null;

/** The attributes of an experiment that a comparison shows besides params and metrics. */
export const attributesOf = ({ experiment, tracking }: FoundRecords): Map<string, Cell> =>
  new Map<string, Cell>(
    Object.entries({
      kind: experiment.kind,
      status: experiment.status,
      command: commandOf(experiment),
      config_id: experiment.config_id,
      config_version: experiment.config_version,
      source_sha256: experiment.source_sha256,
      dataset: experiment.dataset,
      dataset_sha256: experiment.dataset_sha256,
      lock_hash: experiment.lock_hash,
      git_commit: tracking.fields?.git?.commit ?? null,
      vcpus: experiment.vcpus,
      memory: experiment.memory,
      gpus: experiment.gpus,
      nodes: experiment.nodes,
    }),
  );

/** Escape the text of a table cell, so it cannot end the cell, start a line, or act as markup. */
const cellText = (value: Cell): string =>
  value === null
    ? '–'
    : String(value)
        .replaceAll(/[\r\n]+/g, ' ')
        .replaceAll(/[\\|`*_[\]<>&#!~]/g, (sign) => `\\${sign}`);

/** Format values by name as a Markdown table with one column for each experiment; an empty text without values. */
export function comparisonTable(
  title: string,
  names: readonly string[],
  rows: Readonly<Record<string, readonly Cell[]>>,
): string {
  const lines = Object.entries(rows).map(([name, values]) => [name, ...values]);
  if (lines.length === 0) return '';
  const line = (cells: readonly Cell[]) => `| ${cells.map(cellText).join(' | ')} |`;
  const rule = `|${' --- |'.repeat(names.length + 1)}`;
  return [line([title, ...names]), rule, ...lines.map(line), ''].join('\n');
}
