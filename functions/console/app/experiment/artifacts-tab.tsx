import { useMemo, useRef, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { mediaKindOf } from '../../../../shared/experiments/media-series.ts';
import type { Experiment } from '../api/answers.ts';
import { type Artifact, loadArtifacts } from '../api/experiments.ts';
import { ownRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { downloadFile } from '../preview/download-file.ts';
import { Preview } from '../preview/preview.tsx';
import { previewFile } from '../preview/preview-file.ts';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { href, place, setQuery } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { isFinal } from '../ui/states/status.tsx';
import { plural } from '../ui/text/format.ts';
import { FileTree } from './file-tree.tsx';

const maxShown = 400;

function ArtifactList({ experiment, artifacts }: { experiment: Experiment; artifacts: readonly Artifact[] }) {
  const { project_id, experiment_id } = experiment;
  const path = { project_id, experiment_id };
  const [wanted, setWanted] = useState('');
  // What was opened stays open while a run writes more files.
  const opened = useRef<string>(undefined);
  opened.current ??= previewFile(artifacts);
  const chosen = place.value.query.get('file') ?? opened.current;
  const found = useMemo(
    () => artifacts.filter((artifact) => artifact.path.toLowerCase().includes(wanted.toLowerCase())),
    [artifacts, wanted],
  );
  const shown = artifacts.find((artifact) => artifact.path === chosen);
  const [progress, setProgress] = useState<number>();
  const downloadAll = async () => {
    setProgress(0);
    await attempt(async () => {
      const { saveAll } = await import('./save-all.ts');
      await saveAll(path, artifacts, experiment.name, setProgress).catch((error: unknown) => {
        // The user closed the dialog.
        if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
      });
    });
    setProgress(undefined);
  };
  const bytes = artifacts.reduce((sum, { size }) => sum + size, 0);
  return (
    <div class="files">
      <div class="panel file-list">
        <div class="file-bar">
          {artifacts.length > 8 && (
            <input
              type="search"
              aria-label="Find artifacts"
              placeholder="Find"
              value={wanted}
              onInput={({ currentTarget }) => setWanted(currentTarget.value)}
              onKeyDown={({ key }) => {
                const [first] = found;
                if (key === 'Enter' && first !== undefined) setQuery({ file: first.path });
              }}
            />
          )}
          <span class="soft small number grow">
            {plural(artifacts.length, 'file')}, {bytesText(bytes)}
          </span>
          <Button icon="download" onClick={downloadAll} disabled={progress !== undefined}>
            {progress === undefined ? 'Download all' : `${Math.round(progress * 100)} %`}
          </Button>
        </div>
        <FileTree
          artifacts={found}
          isSearch={wanted !== ''}
          chosen={chosen}
          onChoose={(file) => setQuery({ file })}
        />
        {found.length === 0 && <p class="soft small">No file matches.</p>}
        {!artifacts.some((artifact) => mediaKindOf(artifact.path)) && (
          <p class="soft small after">
            Pictures, sounds and histograms get a page of their own, with a slider for their steps.{' '}
            <a href={href(['projects', project_id, 'experiments', experiment_id], { tab: 'media' })}>
              How to log them
            </a>
          </p>
        )}
      </div>
      <div class="panel">
        {shown === undefined ? (
          <Empty title="Choose a file to preview" icon="file" />
        ) : (
          <>
            <div class="panel-head">
              <h2>
                <bdi>{shown.path}</bdi>
              </h2>
              <span class="actions">
                {ownRights().mayCreate && /\.onnx$/i.test(shown.path) && (
                  <LinkButton
                    icon="cube"
                    href={href(['models'], { from: experiment_id, project: project_id, path: shown.path })}
                  >
                    Register as a model
                  </LinkButton>
                )}
                <Button icon="download" onClick={() => downloadFile(path, shown)}>
                  Download
                </Button>
              </span>
            </div>
            <Preview key={shown.path + shown.sha256} path={path} artifact={shown} />
            <p class="soft small hash">
              {bytesText(shown.size)} · {shown.media_type}
              {shown.sha256 !== null && (
                <>
                  {' '}
                  · SHA-256 <code>{shown.sha256.slice(0, 16)}…</code>
                </>
              )}
            </p>
          </>
        )}
      </div>
    </div>
  );
}

/** The files of CHECKPOINT_DIR. They are for programs, so they have no preview. */
function Checkpoints({ experiment }: { experiment: Experiment }) {
  const { project_id, experiment_id, status } = experiment;
  const live = useLive(
    `checkpoints/${experiment_id}`,
    () => loadArtifacts({ project_id, experiment_id }, 'checkpoint'),
    { every: () => (isFinal(status) ? undefined : 10_000) },
  );
  return (
    <Loaded live={live} what="The checkpoints could not be loaded">
      {(checkpoints) =>
        checkpoints.length === 0 ? null : (
          <section class="panel file-list" aria-label="Checkpoints">
            <h2>Checkpoints</h2>
            <ul>
              {checkpoints.slice(0, maxShown).map((checkpoint) => (
                <li key={checkpoint.path}>
                  <button
                    type="button"
                    aria-label={`Download checkpoint ${checkpoint.path}`}
                    onClick={() => downloadFile(experiment, checkpoint, 'checkpoint')}
                  >
                    <Icon name="download" />
                    <bdi>{checkpoint.path}</bdi>
                    <span class="soft number">{bytesText(checkpoint.size)}</span>
                  </button>
                </li>
              ))}
            </ul>
            {checkpoints.length > maxShown && (
              <p class="soft small">
                And {(checkpoints.length - maxShown).toLocaleString('en')} more:{' '}
                <code>mps pull --checkpoints</code>.
              </p>
            )}
          </section>
        )
      }
    </Loaded>
  );
}

/** The artifacts of an experiment, each with a preview, and its checkpoints. */
export function ArtifactsTab({ experiment }: { experiment: Experiment }) {
  return (
    <>
      <Artifacts experiment={experiment} />
      <Checkpoints experiment={experiment} />
    </>
  );
}

function Artifacts({ experiment }: { experiment: Experiment }) {
  const { project_id, experiment_id, status } = experiment;
  const live = useLive(`artifacts/${experiment_id}`, () => loadArtifacts({ project_id, experiment_id }), {
    every: () => (isFinal(status) ? undefined : 5_000),
  });
  return (
    <Loaded live={live} what="The artifacts could not be loaded">
      {(artifacts) =>
        artifacts.length === 0 ? (
          <Empty title="No artifacts" icon="file">
            <p>
              Files that a training writes to <code>OUTPUT_DIR</code> appear here, and at its end those that
              it left in its working folder.
            </p>
          </Empty>
        ) : (
          <ArtifactList experiment={experiment} artifacts={artifacts} />
        )
      }
    </Loaded>
  );
}
