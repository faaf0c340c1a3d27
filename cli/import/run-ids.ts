import { idText } from './fit-names.ts';
import type { SourceExperiment, SourceRun } from './source.ts';

/** Knows the runs of an import by project and id. Of those with one id in one project only the first is brought. */
export class RunIds {
  readonly #names = new Map<string, string>();

  /** Return why a run is not brought; undefined for the first of its id. */
  refusal(experiment: SourceExperiment, run: SourceRun): string | undefined {
    const key = JSON.stringify([experiment.name, idText(run.id)]);
    const first = this.#names.get(key);
    if (first === undefined) this.#names.set(key, run.name);
    return first === undefined
      ? undefined
      : `run ${run.name} of ${experiment.name}: has the id ${run.id} of the run ${first}, which is brought`;
  }
}
