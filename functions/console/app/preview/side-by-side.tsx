import { inLanes } from '../../../../shared/core/in-lanes.ts';
import { mediaSeries } from '../../../../shared/experiments/media-series.ts';
import { type Artifact, loadArtifacts } from '../api/experiments.ts';
import { useLive } from '../api/use-live.ts';
import { place, setQuery } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { plural } from '../ui/text/format.ts';
import { fileKind } from './file-kind.ts';
import { Preview } from './preview.tsx';

/** Most experiments whose files have room beside each other. */
const maxShown = 6;
const lanes = 3;
const maxOffered = 500;

interface Named {
  experiment_id: string;
  name: string;
}

type Files = ReadonlyMap<string, ReadonlyMap<string, Artifact>>;

/** Return whether *Media* has a file side by side, too. Tables and reports, which it has not, come first here. */
const isOfMedia = (path: string): boolean => mediaSeries([{ path, size: 0 }]).length > 0;

/** Load the files of experiments by path: of each path those of the experiments that have it. */
async function loadFiles(project_id: string, experiments: readonly Named[]): Promise<Files> {
  const files = new Map<string, Map<string, Artifact>>();
  await inLanes(experiments, lanes, async ({ experiment_id }) => {
    for (const artifact of await loadArtifacts({ project_id, experiment_id })) {
      if (fileKind(artifact) === 'none') continue;
      const byId = files.get(artifact.path) ?? new Map<string, Artifact>();
      files.set(artifact.path, byId.set(experiment_id, artifact));
    }
  });
  return files;
}

/** One file of several experiments side by side: their tables with confusion matrices, pictures or reports. */
export function SideBySide({
  project_id,
  experiments,
}: {
  project_id: string;
  experiments: readonly Named[];
}) {
  const shown = experiments.slice(0, maxShown);
  const ids = shown.map(({ experiment_id }) => experiment_id);
  const live = useLive(`side-by-side/${ids.join()}`, () => loadFiles(project_id, shown), { isKept: true });
  return (
    <Loaded live={live} rows={8} what="The files could not be loaded">
      {(files) => {
        const common = [...files]
          .filter(([, byId]) => byId.size > 1)
          .map(([path]) => path)
          .sort((a, b) => Number(isOfMedia(a)) - Number(isOfMedia(b)) || (a < b ? -1 : 1));
        const chosen = place.value.query.get('file') ?? '';
        const path = common.includes(chosen) ? chosen : common[0];
        if (path === undefined)
          return (
            <Empty title="The experiments have no file of the same name" icon="file">
              <p>Files that programs leave under the same name stand side by side here.</p>
            </Empty>
          );
        return (
          <>
            <div class="bar-row">
              <label class="group-by">
                <span class="hidden">File</span>
                <select
                  value={path}
                  onChange={({ currentTarget }) => setQuery({ file: currentTarget.value })}
                >
                  {common.slice(0, maxOffered).map((file) => (
                    <option key={file}>{file}</option>
                  ))}
                </select>
              </label>
              {experiments.length > maxShown && (
                <span class="soft small">
                  of the first {maxShown} of {plural(experiments.length, 'experiment')}
                </span>
              )}
            </div>
            <div class="halves">
              {shown.map(({ experiment_id, name }) => {
                const artifact = files.get(path)?.get(experiment_id);
                return (
                  <section key={experiment_id} class="panel" aria-label={name}>
                    <h2>
                      <bdi>{name}</bdi>
                    </h2>
                    {artifact === undefined ? (
                      <p class="soft">It has no such file.</p>
                    ) : (
                      <Preview key={path} path={{ project_id, experiment_id }} artifact={artifact} />
                    )}
                  </section>
                );
              })}
            </div>
          </>
        );
      }}
    </Loaded>
  );
}
