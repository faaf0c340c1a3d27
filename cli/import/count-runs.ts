import { addOmitted, type Imported, nothingImported } from './imported.ts';
import { RunIds } from './run-ids.ts';
import type { RunSource } from './source.ts';

/** Read a whole source, and count what an import would bring. */
export async function countRuns(source: RunSource, say: (line: string) => void): Promise<Imported> {
  const counted = nothingImported();
  const ids = new RunIds();
  for await (const experiment of source.experiments()) {
    counted.experiments += 1;
    for await (const run of source.runs(experiment)) {
      const refusal = ids.refusal(experiment, run);
      if (refusal !== undefined) {
        counted.failures.push(refusal);
        continue;
      }
      counted.runs += 1;
      counted.params += run.params.length;
      for await (const points of source.points(run)) counted.points += points.length;
      for await (const { size } of source.files(run)) {
        counted.files += 1;
        counted.bytes += size;
      }
      addOmitted(counted, source.omitted?.(run) ?? []);
      await source.release?.(run);
      say(`${experiment.name}: ${counted.runs} runs, ${counted.points} points, ${counted.files} files`);
    }
  }
  for await (const { versions } of source.models()) {
    counted.models += 1;
    counted.versions += versions.length;
  }
  addOmitted(counted, source.omittedBeside?.() ?? []);
  counted.failures.push(...(source.unread?.() ?? []));
  return counted;
}
