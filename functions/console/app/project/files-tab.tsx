import { useEffect } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { ProjectDetails } from '../api/answers.ts';
import { loadEnvironment, loadSource } from '../api/files.ts';
import { uploadSource } from '../api/upload.ts';
import { useLive } from '../api/use-live.ts';
import { UploadField } from '../ui/controls/upload-field.tsx';
import { place, setQuery } from '../ui/router.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { Configs } from './configs.tsx';
import { Datasets } from './datasets.tsx';
import { EnvironmentFacts, EnvironmentForm } from './environment-form.tsx';

/** Source archive of a project. */
export function Source({
  project_id,
  mayChange,
  onFound,
}: {
  project_id: string;
  mayChange: boolean;
  onFound?: (isThere: boolean) => void;
}) {
  const live = useLive(`source/${project_id}`, () => loadSource(project_id));
  const isThere = live.data != null;
  useEffect(() => onFound?.(isThere), [isThere, onFound]);
  return (
    <Loaded live={live} rows={1} what="The program could not be loaded">
      {(source) => (
        <>
          {source === null ? (
            <p class="soft small">
              No program yet.
              {mayChange && (
                <>
                  {' '}
                  Pack its folder (<code>tar czf source.tar.gz -C folder .</code>), or let{' '}
                  <code>mps run</code> do that. A container image may need none.
                </>
              )}
            </p>
          ) : (
            <p class="small">
              An archive of {bytesText(source.size)},{' '}
              <code title={source.sha256}>{source.sha256.slice(0, 10)}</code>,{' '}
              <Ago time={source.updated_at} />
            </p>
          )}
          {mayChange && (
            <UploadField
              label={
                source === null ? 'Choose the archive, or drop it here' : 'Replace it by another archive'
              }
              hint="tar.gz or zip"
              accept=".gz,.tgz,.tar,.zip"
              onFile={async (file, onProgress) => {
                await uploadSource(project_id, file, onProgress);
                await live.refresh();
              }}
            />
          )}
        </>
      )}
    </Loaded>
  );
}

/** Tab of all inputs of a project's trainings. */
export function FilesTab({ project, mayChange }: { project: ProjectDetails; mayChange: boolean }) {
  const { project_id } = project;
  const environment = useLive(`environment/${project_id}`, () => loadEnvironment(project_id));
  return (
    <div class="halves">
      <div>
        <section class="panel">
          <h2>Configurations</h2>
          <Configs
            project_id={project_id}
            mayChange={mayChange}
            chosen={place.value.query.get('config') ?? undefined}
            onChoose={(config) => setQuery({ config })}
          />
        </section>
      </div>
      <div>
        <section class="panel">
          <h2>Program</h2>
          <Source project_id={project_id} mayChange={mayChange} />
        </section>
        <section class="panel">
          <h2>Environment</h2>
          <Loaded live={environment} what="The environment could not be loaded">
            {(found) =>
              mayChange ? (
                <EnvironmentForm project_id={project_id} environment={found} onSaved={environment.set} />
              ) : (
                <EnvironmentFacts environment={found} />
              )
            }
          </Loaded>
        </section>
        <section class="panel">
          <h2>Data sets</h2>
          <Datasets project_id={project_id} mayChange={mayChange} />
        </section>
      </div>
    </div>
  );
}
