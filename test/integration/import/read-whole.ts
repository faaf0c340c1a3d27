import { text } from 'node:stream/consumers';
import { openSource, type Tracker } from '../../../cli/import/open-source.ts';
import type { RunSource, SourcePoint, SourceRun } from '../../../cli/import/source.ts';

/** Open what a tracker recorded, read all of it, and close it. Runs are by their names. */
export async function readSource(tracker: Tracker, path: string, env: NodeJS.ProcessEnv = process.env) {
  const source = await openSource(tracker, path, path, env);
  const runs = Object.fromEntries(await readAll(source));
  const models = await Array.fromAsync(source.models());
  await source.close?.();
  const beside = Object.fromEntries(source.omittedBeside?.() ?? []);
  return { runs, models, beside, unread: source.unread?.() ?? [] };
}

/** All runs of a source, by their names. */
export async function readAll(source: RunSource) {
  const runs = new Map<string, Awaited<ReturnType<typeof readRun>>>();
  for await (const experiment of source.experiments())
    for await (const run of source.runs(experiment))
      runs.set(run.name, { ...(await readRun(source, run)), experiment });
  return runs;
}

/** Everything that a source says of the first run of its first project. */
export async function readWhole(source: RunSource) {
  const [run] = (await readAll(source)).values();
  if (run === undefined) throw new Error('There is no run.');
  return run;
}

async function readRun(source: RunSource, run: SourceRun) {
  const points = (await Array.fromAsync(source.points(run))).flat();
  const files = new Map<string, string>();
  for await (const { path, size } of source.files(run))
    files.set(path, await text(await source.openFile(run, { path, size })));
  const omitted = Object.fromEntries(source.omitted?.(run) ?? []);
  await source.release?.(run);
  return {
    run,
    points,
    files,
    omitted,
    params: Object.fromEntries(run.params.map(({ key, value }) => [key, value])),
    tags: Object.fromEntries(run.tags.map(({ key, value }) => [key, value])),
    experiment: { id: '', name: '', isDeleted: false, tags: [] } as {
      id: string;
      name: string;
      isDeleted: boolean;
      tags: readonly object[];
    },
  };
}

/** Steps and values of a metric. */
export const valuesOf = (points: readonly SourcePoint[], name: string) =>
  points.filter(({ key }) => key === name).map(({ step, value }) => [step, value]);
