import { loadModels } from '../api/models.ts';
import { mayChangeModel } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { href } from '../router.ts';
import { useFirstOf } from '../ui/first-of.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/parts.tsx';
import { loadName, loadSources, loadVersions } from './registered.ts';
import { type NamedVersions, VersionRow } from './version-row.tsx';

const maxRows = 50;

async function loadAll(name: string): Promise<NamedVersions> {
  const registered = await loadName(name);
  const versions = await loadVersions(name);
  const sources = await loadSources(versions);
  return { registered, versions, sources, models: versions.length === 0 ? [] : await loadModels() };
}

function VersionsOf({ all, onChange }: { all: NamedVersions; onChange: () => Promise<void> }) {
  const [rows, more] = useFirstOf(all.versions, maxRows, 'versions');
  const { description } = all.registered;
  return (
    <section class="panel" aria-labelledby="registered-versions">
      <h2 id="registered-versions">Versions</h2>
      {description !== '' && <p class="soft panel-about">{description}</p>}
      <div class="scroll-x">
        <table class="data versions">
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Aliases</th>
              <th scope="col">Experiment</th>
              <th scope="col" class="right">
                Best value
              </th>
              <th scope="col" class="right">
                Size
              </th>
              <th scope="col" class="only-wide">
                Made
              </th>
              {mayChangeModel(all.registered) && (
                <th scope="col" class="right">
                  Alias
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((version) => (
              <VersionRow key={version.version} version={version} all={all} onChange={onChange} />
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </section>
  );
}

/** Page of a name of MLflow's registry: its versions, newest first, with aliases and the experiments that made them. */
export function NamePage({ name }: { name: string }) {
  const live = useLive(`registered/${name}`, () => loadAll(name));
  return (
    <>
      <PageHead trail={[{ name: 'Models', href: href(['models']) }]} title={name} />
      <Loaded live={live} rows={6} what="The name could not be loaded">
        {(all) =>
          all.versions.length === 0 ? (
            <Empty title="No versions yet" icon="cube">
              <p>MLflow’s clients add one with mlflow.register_model.</p>
            </Empty>
          ) : (
            <VersionsOf all={all} onChange={live.refresh} />
          )
        }
      </Loaded>
    </>
  );
}
