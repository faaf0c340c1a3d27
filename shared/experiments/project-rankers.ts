import type { JudgedBy } from '../metrics/criteria.ts';
import { criterionOf } from '../metrics/criteria.ts';
import { MetricRanker } from '../metrics/metric-ranker.ts';

/** The rankers of some projects, one for each. */
export class ProjectRankers {
  readonly #rankers = new Map<string, MetricRanker>();

  /** Take in the criteria of projects, by their ids. */
  take(criteria: ReadonlyMap<string, JudgedBy>): void {
    for (const [project_id, criterion] of criteria)
      if (!this.#rankers.has(project_id)) this.#rankers.set(project_id, new MetricRanker(criterion));
  }

  /** Those of these projects whose criteria were not taken in. */
  lacking(project_ids: Iterable<string>): string[] {
    return [...new Set(project_ids)].filter((project_id) => !this.#rankers.has(project_id));
  }

  of(project_id: string): MetricRanker {
    const known = this.#rankers.get(project_id);
    if (known !== undefined) return known;
    // Of a project that is gone.
    const ranker = new MetricRanker(criterionOf({ project_task: '' }));
    this.#rankers.set(project_id, ranker);
    return ranker;
  }
}
