import * as z from 'zod';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { Ulid } from '../../shared/core/formats.ts';
import { inLanes } from '../../shared/core/in-lanes.ts';
import { CliError } from '../cli-error.ts';
import { copyModel, type ImportedRun, importedAs } from './copy-models.ts';
import { type CopyInto, copyRun, endRun, goesOn } from './copy-run.ts';
import { failureOf } from './failure-of.ts';
import { fitProject, idText } from './fit-names.ts';
import { completeTag, importedTag, parentTag } from './fit-run.ts';
import { addOmitted, type Imported, nothingImported } from './imported.ts';
import { nestedLevels } from './nested-levels.ts';
import { RunIds } from './run-ids.ts';
import type { SourceExperiment, SourceRun } from './source.ts';
import { runsOf } from './sources/mlflow-server.ts';
import type { TrackingApi } from './tracking-api.ts';

/**
 * Import experiments, runs and registered models of another tracker into this service through its MLflow API. Mark
 * runs with the tag `import.run_id`, so that a second import adds only missing data.
 * @param say called with a line of progress
 */
export async function importRuns(into: CopyInto, say: (line: string) => void): Promise<Imported> {
  const work: Import = { ...into, say, done: nothingImported(), ids: new RunIds(), runs: new Map() };
  const { done, source, api } = work;
  for await (const experiment of source.experiments())
    await importExperiment(work, experiment).catch((error: unknown) => {
      done.failures.push(`${experiment.name}: ${failureOf(error)}`);
    });
  for await (const model of source.models()) {
    const note = (reason: string): void => addOmitted(done, [[reason, 1]]);
    const versions = await copyModel(api, model, work.runs, note).catch((error: unknown) => {
      done.failures.push(`model ${model.name}: ${failureOf(error)}`);
    });
    if (versions === undefined) continue;
    done.models += 1;
    done.versions += versions;
    say(`${model.name}: ${versions} versions`);
  }
  addOmitted(done, source.omittedBeside?.() ?? []);
  done.failures.push(...(source.unread?.() ?? []));
  return done;
}

interface Import extends CopyInto {
  say(line: string): void;
  done: Imported;
  ids: RunIds;
  /** Runs in this service by their ids at the source. */
  runs: Map<string, ImportedRun>;
}

/** Runs that are copied at the same time. */
const lanes = 4;

async function importExperiment(work: Import, experiment: SourceExperiment): Promise<void> {
  const { api, done, say } = work;
  const note = (reason: string): void => addOmitted(done, [[reason, 1]]);
  const { id, isDeleted } = await experimentFor(api, { ...experiment, ...fitProject(experiment, note) });
  const known = await knownRuns(api, id);
  const levels = await inLevels(work, experiment);
  const runs = levels.flat();
  const isLacking = runs.some((run) => !isWhole(known.get(idText(run.id)), run));
  if (isDeleted && isLacking)
    await api.run('POST mlflow/experiments/restore', { body: { experiment_id: id } });
  const place = { experiment_id: id, isGone: experiment.isDeleted };
  let count = 0;
  for (const level of levels)
    await inLanes(level, lanes, async (run) => {
      await importRun(work, place, run, known.get(idText(run.id))).catch((error: unknown) => {
        done.failures.push(`run ${run.id} of ${experiment.name}: ${failureOf(error)}`);
      });
      count += 1;
      if (count % 10 === 0 || count === runs.length)
        say(
          `${experiment.name}: ${count} of ${runs.length} runs, ${done.points} points, ${done.files} files`,
        );
    });
  const here = new Set((await knownRuns(api, id)).keys());
  const lost = runs.filter((run) => !here.has(idText(run.id)));
  if (lost.length > 0)
    done.failures.push(`${experiment.name}: ${lost.length} of ${runs.length} runs were not imported`);
  if (experiment.isDeleted && !(isDeleted && !isLacking))
    await api.run('POST mlflow/experiments/delete', { body: { experiment_id: id } });
  done.experiments += 1;
  done.runs += runs.length - lost.length;
}

const Made = z.object({ experiment_id: z.string() });

/** Return the chosen project, else the one with this id or name in this service, or create it. */
async function experimentFor(api: TrackingApi, { name, tags, project_id }: SourceExperiment) {
  if (project_id !== undefined) return { id: project_id, isDeleted: false };
  // Programs that record may name a project by its id.
  const byId = Ulid.safeParse(name).success ? await findExperiment(api, { experiment_id: name }) : undefined;
  const present = byId ?? (await findExperiment(api, { experiment_name: name }));
  if (present !== undefined) return present;
  try {
    const body = { name, tags };
    const { experiment_id } = await api.json(Made, 'POST mlflow/experiments/create', { body });
    return { id: experiment_id, isDeleted: false };
  } catch (error) {
    // If a response was lost, the first request created the experiment, and its repetition failed.
    const made =
      error instanceof ProblemError ? await findExperiment(api, { experiment_name: name }) : undefined;
    if (made === undefined) throw error;
    return made;
  }
}

const Found = z.object({
  experiment: z.object({ experiment_id: z.string(), lifecycle_stage: z.string().default('active') }),
});

async function findExperiment(
  api: TrackingApi,
  query: { experiment_id: string } | { experiment_name: string },
) {
  const path = 'experiment_id' in query ? 'get' : 'get-by-name';
  try {
    const { experiment } = await api.json(Found, `GET mlflow/experiments/${path}`, { query });
    return { id: experiment.experiment_id, isDeleted: experiment.lifecycle_stage === 'deleted' };
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined;
    throw error;
  }
}

/** Return runs of earlier imports by their ids at the source. */
async function knownRuns(api: TrackingApi, experiment_id: string): Promise<Map<string, SourceRun>> {
  const known = new Map<string, SourceRun>();
  for await (const run of runsOf(api, experiment_id)) {
    const id = tagOf(run, importedTag);
    if (id !== undefined) known.set(id, run);
  }
  return known;
}

/** Whether this service has all that the source has of a run, or had it until a user deleted it. */
function isWhole(known: SourceRun | undefined, run: SourceRun): boolean {
  const state = known && tagOf(known, completeTag);
  if (known === undefined || state === undefined) return false;
  // Earlier releases did not write the state.
  return known.isDeleted || state === 'true' || state === run.state;
}

const tagOf = ({ tags }: SourceRun, name: string): string | undefined =>
  tags.find(({ key }) => key === name)?.value;

/** Return the runs of an experiment, parents before children: a folder lists them by id. */
async function inLevels(work: Import, experiment: SourceExperiment): Promise<SourceRun[][]> {
  const runs: SourceRun[] = [];
  for await (const run of work.source.runs(experiment)) {
    const refusal = work.ids.refusal(experiment, run);
    if (refusal === undefined) runs.push(run);
    else work.done.failures.push(refusal);
  }
  return nestedLevels(runs, (run) => tagOf(run, parentTag));
}

export const parentLacks = 'runs whose parent is not brought';

/** @param known runs that are brought, by their ids at the source */
export const lacksParent = (run: SourceRun, known: ReadonlyMap<string, unknown>): boolean => {
  const parent = tagOf(run, parentTag);
  return parent !== undefined && !known.has(parent);
};

async function importRun(
  work: Import,
  { experiment_id, isGone }: { experiment_id: string; isGone: boolean },
  run: SourceRun,
  known: SourceRun | undefined,
) {
  const { api, done } = work;
  if (known !== undefined && isWhole(known, run)) {
    done.known += 1;
    work.runs.set(run.id, importedAs(known.id, run));
    if (run.isDeleted && !known.isDeleted)
      await api.run('POST mlflow/runs/delete', { body: { run_id: known.id } });
    return;
  }
  const copied = await copyRun(work, experiment_id, run, known?.id).finally(() => work.source.release?.(run));
  const { run_id, omitted } = copied;
  work.runs.set(run.id, importedAs(run_id, run));
  const parent = work.runs.get(tagOf(run, parentTag) ?? '')?.run_id;
  if (lacksParent(run, work.runs)) addOmitted(done, [[parentLacks, 1]]);
  const { faults } = copied;
  await endRun(api, run, copied, { isOver: faults.length === 0 && (isGone || !goesOn(run)), parent });
  for (const name of ['params', 'points', 'files', 'bytes'] as const) done[name] += copied[name];
  addOmitted(done, omitted);
  if (faults.length > 0) throw new CliError(faults.join('; '));
}
