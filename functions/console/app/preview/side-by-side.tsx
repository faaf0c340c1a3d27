import { inLanes } from '../../../../shared/core/in-lanes.ts';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { mediaSeries } from '../../../../shared/experiments/media-series.ts';
import { type Artifact, loadArtifacts } from '../api/experiments.ts';
import { useLive } from '../api/use-live.ts';
import { Button } from '../ui/controls/button.tsx';
import { href, place, setQuery } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { plural } from '../ui/text/format.ts';
import { downloadFile } from './download-file.ts';
import { Preview } from './preview.tsx';
import { byName, previewFile } from './preview-file.ts';

/** Most experiments whose files have room beside each other. */
const maxShown = 6;
const lanes = 3;
const maxOffered = 500;

interface Named {
  experiment_id: string;
  name: string;
}

/** A file name with the file of each experiment that has it. */
interface Common {
  path: string;
  byId: ReadonlyMap<string, Artifact>;
  /** Whether all of the experiments have it with the same content. */
  isSame: boolean;
}

const isSameFile = (a: Artifact, b: Artifact): boolean => a.sha256 !== null && a.sha256 === b.sha256;

/** Return the name to open first: what tells the most, of what differs. *Media* has pictures side by side, too. */
function firstOf(common: readonly Common[]): Common | undefined {
  const different = common.filter(({ isSame }) => !isSame);
  const files = different.flatMap(({ byId }) => [...byId.values()].slice(0, 1));
  const path = previewFile(files.filter((file) => mediaSeries([file]).length === 0)) ?? previewFile(files);
  return common.find((file) => file.path === path) ?? common[0];
}

/** Load the files that several experiments have under the same name. */
async function loadFiles(project_id: string, experiments: readonly Named[]): Promise<Common[]> {
  const files = new Map<string, Map<string, Artifact>>();
  await inLanes(experiments, lanes, async ({ experiment_id }) => {
    for (const artifact of await loadArtifacts({ project_id, experiment_id })) {
      const byId = files.get(artifact.path) ?? new Map<string, Artifact>();
      files.set(artifact.path, byId.set(experiment_id, artifact));
    }
  });
  return [...files]
    .filter(([, byId]) => byId.size > 1)
    .map(([path, byId]) => {
      const [first, ...others] = byId.values();
      const isSame =
        byId.size === experiments.length &&
        others.every((copy) => first !== undefined && isSameFile(first, copy));
      return { path, byId, isSame };
    })
    .sort((a, b) => byName(a.path, b.path));
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
      {(common) => {
        const chosen = place.value.query.get('file') ?? '';
        const file = common.find(({ path }) => path === chosen) ?? firstOf(common);
        if (file === undefined)
          return (
            <Empty title="The experiments have no file of the same name" icon="file">
              <p>Files that programs leave under the same name stand side by side here.</p>
            </Empty>
          );
        const { path, byId } = file;
        const offered = common.slice(0, maxOffered);
        return (
          <>
            <div class="bar-row">
              <label class="group-by">
                <span class="hidden">File</span>
                <select
                  value={path}
                  onChange={({ currentTarget }) => setQuery({ file: currentTarget.value })}
                >
                  {[false, true].map((isSame) => {
                    const some = offered.filter((file) => file.isSame === isSame);
                    return (
                      some.length > 0 && (
                        <optgroup key={isSame} label={isSame ? 'The same in all' : 'Different'}>
                          {some.map((offer) => (
                            <option key={offer.path}>{offer.path}</option>
                          ))}
                        </optgroup>
                      )
                    );
                  })}
                </select>
              </label>
              {experiments.length > maxShown && (
                <span class="soft small">
                  of the first {maxShown} of {plural(experiments.length, 'experiment')}
                </span>
              )}
            </div>
            <div class="halves side-by-side">
              {shown.map(({ experiment_id, name }) => {
                const artifact = byId.get(experiment_id);
                const at = { project_id, experiment_id };
                const twin =
                  artifact &&
                  shown.find((experiment) => {
                    const other = byId.get(experiment.experiment_id);
                    return other !== undefined && isSameFile(artifact, other);
                  });
                return (
                  <section key={experiment_id} class="panel" aria-label={name}>
                    <div class="panel-head">
                      <h2>
                        <a href={href(['projects', project_id, 'experiments', experiment_id])}>
                          <bdi>{name}</bdi>
                        </a>
                      </h2>
                      {artifact !== undefined && (
                        <Button
                          kind="quiet"
                          icon="download"
                          label={`Download of ${name}`}
                          onClick={() => downloadFile(at, artifact)}
                        />
                      )}
                    </div>
                    {artifact === undefined ? (
                      <p class="soft">It has no such file.</p>
                    ) : (
                      <>
                        <Preview key={path} path={at} artifact={artifact} />
                        <p class="soft small hash">
                          {bytesText(artifact.size)}
                          {twin !== undefined && twin.experiment_id !== experiment_id && (
                            <>
                              {' '}
                              · the same as in <bdi>{twin.name}</bdi>
                            </>
                          )}
                        </p>
                      </>
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
