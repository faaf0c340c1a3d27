import type { Imported } from './import-runs.ts';
import type { RunSource } from './source.ts';

/** Read a whole source, and count what an import would bring. */
export async function countRuns(source: RunSource, say: (line: string) => void): Promise<Imported> {
  const counted: Imported = {
    ...{ experiments: 0, runs: 0, known: 0, params: 0, points: 0, files: 0, bytes: 0 },
    ...{ models: 0, versions: 0, omitted: {}, failures: [] },
  };
  for await (const experiment of source.experiments()) {
    counted.experiments += 1;
    for await (const run of source.runs(experiment)) {
      counted.runs += 1;
      counted.params += run.params.length;
      for await (const points of source.points(run)) counted.points += points.length;
      for await (const { size } of source.files(run)) {
        counted.files += 1;
        counted.bytes += size;
      }
      for (const [reason, count] of source.omitted?.(run) ?? [])
        counted.omitted[reason] = (counted.omitted[reason] ?? 0) + count;
      await source.release?.(run);
      say(`${experiment.name}: ${counted.runs} runs, ${counted.points} points, ${counted.files} files`);
    }
  }
  counted.failures.push(...(source.unread?.() ?? []));
  for await (const { versions } of source.models()) {
    counted.models += 1;
    counted.versions += versions.length;
  }
  return counted;
}
