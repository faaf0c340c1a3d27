import { loadModels } from '../api/models.ts';
import { loadName, loadSources, loadVersions } from '../api/registered.ts';
import { mayChangeModel } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { PageHead } from '../ui/page-head.tsx';
import { href } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { numberText } from '../ui/text/format.ts';
import { decimalsOf } from '../ui/text/point-pad.ts';
import { useNarrow } from '../ui/use-narrow.ts';
import { modelsOf, type NamedVersions, sourceOf, VersionRow } from './version-row.tsx';
import { VersionsPlot } from './versions-plot.tsx';

const maxRows = 50;

async function loadAll(name: string): Promise<NamedVersions> {
  const registered = await loadName(name);
  const versions = await loadVersions(name);
  const sources = await loadSources(versions);
  return { registered, versions, sources, models: versions.length === 0 ? [] : await loadModels() };
}

function VersionsOf({ all, onChange }: { all: NamedVersions; onChange: () => Promise<void> }) {
  const [rows, more] = useShowMore(all.versions, maxRows, 'versions');
  const { description } = all.registered;
  const bests = all.versions.flatMap((version) => sourceOf(version, all.sources)?.best ?? []);
  const metrics = new Set(bests.map(({ metric }) => metric));
  const decimals = Math.max(0, ...bests.map(({ value }) => decimalsOf(numberText(value))));
  const [first] = metrics;
  const metric = metrics.size === 1 ? first : undefined;
  const isNarrow = useNarrow();
  const hasSizes = all.versions.some((version) => modelsOf(version, all).length > 0);
  return (
    <section class="panel" aria-labelledby="registered-versions">
      <h2 id="registered-versions">Versions</h2>
      {description !== '' && <p class="soft panel-about">{description}</p>}
      {first !== undefined && <VersionsPlot all={all} metric={first} />}
      <div class="scroll-x">
        <table class="data versions">
          <thead>
            <tr>
              <th scope="col">Version</th>
              {!isNarrow && <th scope="col">Aliases</th>}
              <th scope="col">Experiment</th>
              {first !== undefined && (
                <th scope="col" class="right">
                  {metric === undefined ? (
                    'Best value'
                  ) : (
                    <>
                      Best <bdi>{metric}</bdi>
                    </>
                  )}
                </th>
              )}
              {hasSizes && (
                <th scope="col" class="right only-wide">
                  Size
                </th>
              )}
              <th scope="col" class="only-wide">
                Made
              </th>
              {mayChangeModel(all.registered) && (
                <th scope="col">
                  <span class="hidden">Promote</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((version) => (
              <VersionRow
                key={version.version}
                version={version}
                all={all}
                metric={metric}
                decimals={decimals}
                hasBests={first !== undefined}
                hasSizes={hasSizes}
                onChange={onChange}
              />
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
  const trail = [{ name: 'Models', href: href(['models']) }];
  return (
    <Loaded live={live} rows={6} page={{ what: 'name', trail }}>
      {(all) => (
        <>
          <PageHead trail={trail} title={name} />
          {all.versions.length === 0 ? (
            <Empty title="No versions yet" icon="cube">
              <p>MLflow’s clients add one with mlflow.register_model.</p>
            </Empty>
          ) : (
            <VersionsOf all={all} onChange={live.refresh} />
          )}
        </>
      )}
    </Loaded>
  );
}
