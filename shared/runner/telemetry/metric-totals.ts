import type { Experiment } from '../../data/experiments/experiment.ts';
import {
  allSummaries,
  type MetricParts,
  putMetricPart,
  readMetricParts,
  withPoints,
} from '../../data/metrics/metric-summaries.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { noteFirstCriterion } from '../../data/projects/first-criterion.ts';
import type { TableWriter, Write } from '../../data/table/table.ts';

/**
 * Keeps the summary of a training's metrics with the experiment. Its job alone writes it, under the lease, so that the
 * parts that were read at the beginning stay true. Metrics beyond 10,000 names keep their points and have no summary.
 */
export class MetricTotals {
  readonly #records: TableWriter<'records'>;
  readonly #experiment: Experiment;
  #parts: MetricParts | undefined;

  constructor(records: TableWriter<'records'>, experiment: Experiment) {
    this.#records = records;
    this.#experiment = experiment;
  }

  /** The summaries of all that was taken in. */
  async parts(): Promise<MetricParts> {
    const { project_id, experiment_id } = this.#experiment;
    this.#parts ??= await readMetricParts(this.#records, project_id, experiment_id);
    return this.#parts;
  }

  /**
   * Take in points together with what stores them. Where that fails they are not taken in, so that a repetition with the
   * same points counts them once.
   * @param write does the writes that it is given together with its own
   */
  async store(
    points: readonly MetricPoint[],
    write: (writes: readonly Write[]) => Promise<void>,
  ): Promise<void> {
    const { project_id, experiment_id } = this.#experiment;
    const { parts, changed, hasNew } = withPoints(await this.parts(), points);
    if (hasNew) await noteFirstCriterion(this.#records, this.#experiment, allSummaries(parts).keys());
    const writes = parts.flatMap((part, index) =>
      changed.has(index) ? [putMetricPart(project_id, experiment_id, index, part)] : [],
    );
    await write(writes);
    this.#parts = parts;
  }
}
