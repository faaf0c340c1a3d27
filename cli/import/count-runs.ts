import { type ImportedRun, importedAs, lacksFiles, versionLacksFiles } from './copy-models.ts';
import type { CopyInto } from './copy-run.ts';
import { failureOf } from './failure-of.ts';
import { fitProject } from './fit-names.ts';
import { FittedRun } from './fit-run.ts';
import { lacksParent, parentLacks } from './import-runs.ts';
import { addOmitted, type Imported, nothingImported } from './imported.ts';
import { RunIds } from './run-ids.ts';
import type { SourceRun } from './source.ts';

/** Read a whole source, and count what an import would bring and say. */
export async function countRuns(
  into: Pick<CopyInto, 'source' | 'rename'>,
  say: (line: string) => void,
): Promise<Imported> {
  const { source } = into;
  const counted = nothingImported();
  const note = (reason: string): void => addOmitted(counted, [[reason, 1]]);
  const ids = new RunIds();
  const known = new Map<string, ImportedRun>();
  for await (const experiment of source.experiments()) {
    counted.experiments += 1;
    fitProject(experiment, note);
    const runs: SourceRun[] = [];
    for await (const run of source.runs(experiment)) {
      const refusal = ids.refusal(experiment, run);
      if (refusal === undefined) runs.push(run);
      else counted.failures.push(refusal);
    }
    for (const run of runs) known.set(run.id, importedAs(run.id, run));
    for (const run of runs) {
      counted.runs += 1;
      if (lacksParent(run, known)) note(parentLacks);
      const faults = await countRun(into, run, counted);
      if (faults.length > 0)
        counted.failures.push(`run ${run.id} of ${experiment.name}: ${faults.join('; ')}`);
      say(`${experiment.name}: ${counted.runs} runs, ${counted.points} points, ${counted.files} files`);
    }
  }
  for await (const { versions } of source.models()) {
    counted.models += 1;
    counted.versions += versions.length;
    for (const version of versions) if (lacksFiles(version, known)) note(versionLacksFiles);
  }
  addOmitted(counted, source.omittedBeside?.() ?? []);
  counted.failures.push(...(source.unread?.() ?? []));
  return counted;
}

/** Count a run. Return what cannot be read, with the reasons. */
async function countRun(
  { source, rename }: Pick<CopyInto, 'source' | 'rename'>,
  run: SourceRun,
  counted: Imported,
): Promise<string[]> {
  const fitted = new FittedRun(run, rename);
  counted.params += fitted.params.length;
  const faults: string[] = [];
  try {
    for await (const { points } of fitted.batches(source.points(run))) counted.points += points;
  } catch (error) {
    faults.push(failureOf(error));
  }
  try {
    for await (const { path, size } of source.files(run)) {
      fitted.pathOf(path);
      counted.files += 1;
      counted.bytes += size;
    }
  } catch (error) {
    faults.push(failureOf(error));
  }
  fitted.noteOthers(source.omitted?.(run));
  addOmitted(counted, fitted.omissions.counts);
  await source.release?.(run);
  return faults;
}
