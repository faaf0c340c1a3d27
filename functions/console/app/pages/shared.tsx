import { useEffect, useMemo, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import {
  type LinkReader,
  maxFiles,
  readLink,
  type SharedExperiment,
  type SharedFile,
} from '../project/link-calls.ts';
import { inTurn } from '../reports/report-calls.ts';
import { Button } from '../ui/controls/button.tsx';
import { Headings, hiddenHeading } from '../ui/listing.tsx';
import { usePageTitle } from '../ui/page-head.tsx';
import { saveBlob } from '../ui/save.ts';
import { Empty } from '../ui/states/empty.tsx';
import { lazy } from '../ui/states/lazy.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { RunStatus } from '../ui/states/status.tsx';
import { durationText, isNumberText, numberText, plural } from '../ui/text/format.ts';
import { Markdown } from '../ui/text/markdown.tsx';

const ReportText = lazy(() => import('../reports/report-text.tsx').then((module) => module.ReportText));

const kinds = {
  experiment: 'Experiment',
  comparison: 'Comparison',
  sweep: 'Sweep',
  view: 'Experiments',
  report: 'Report',
};
/** Experiments whose curves are drawn at once. */
const drawnAtOnce = 4;

type Values = (experiment: SharedExperiment) => Readonly<Record<string, string>>;

const metricsOf: Values = ({ metrics }) =>
  Object.fromEntries(Object.entries(metrics).map(([name, { last }]) => [name, numberText(Number(last))]));

/** Rows of the table: a value of each experiment. */
function Rows({
  name,
  all,
  values: valuesOf,
}: {
  name: string;
  all: readonly SharedExperiment[];
  values: Values;
}) {
  const of = all.map(valuesOf);
  const names = [...new Set(of.flatMap((row) => Object.keys(row)))].sort();
  if (names.length === 0) return null;
  return (
    <>
      <tr class="group">
        <th scope="rowgroup" colSpan={all.length + 1}>
          {name}
        </th>
      </tr>
      {names.map((row) => (
        <tr key={row}>
          <th scope="row">
            <bdi>{row}</bdi>
          </th>
          {of.map((values, index) => (
            <td
              key={all[index]?.experiment_id}
              class={of.every((values) => isNumberText(values[row] ?? 'NaN')) ? 'right' : ''}
            >
              <bdi>{values[row] ?? '–'}</bdi>
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}

function Chart({
  reader,
  experiment,
  isOpen,
}: {
  reader: LinkReader;
  experiment: SharedExperiment;
  isOpen: boolean;
}) {
  const [isWanted, setWanted] = useState(isOpen);
  const [url, setUrl] = useState<string>();
  const [error, setError] = useState<unknown>();
  const { experiment_id, name, metrics } = experiment;
  useEffect(() => {
    if (!isWanted || Object.keys(metrics).length === 0) return;
    let drawn: string | undefined;
    reader.chart(experiment_id).then((svg) => {
      drawn = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
      setUrl(drawn);
    }, setError);
    return () => drawn !== undefined && URL.revokeObjectURL(drawn);
  }, [isWanted, experiment_id]);
  if (Object.keys(metrics).length === 0) return null;
  if (!isWanted)
    return (
      <Button onClick={() => setWanted(true)}>
        Show the curves of <bdi>{name}</bdi>
      </Button>
    );
  if (error !== undefined) return <Problem error={error} />;
  return url === undefined ? (
    <Skeleton rows={6} />
  ) : (
    <div class="scroll-x">
      <img class="shared-chart" src={url} alt={`Curves of ${name}`} />
    </div>
  );
}

function Files({ reader, experiment }: { reader: LinkReader; experiment: SharedExperiment }) {
  const [files, setFiles] = useState<readonly SharedFile[]>();
  const { experiment_id, name } = experiment;
  if (files === undefined)
    return (
      <Button onClick={async () => setFiles(await reader.files(experiment_id))}>
        Files of <bdi>{name}</bdi>
      </Button>
    );
  if (files.length === 0) return <p class="soft small">No files.</p>;
  return (
    <>
      {files.length === maxFiles && <p class="soft small">The first {maxFiles} files.</p>}
      <ul class="lines">
        {files.map(({ path, size }) => (
          <li key={path} class="line">
            <span class="grow">
              <bdi>{path}</bdi> <span class="soft">{bytesText(size)}</span>
            </span>
            <Button
              kind="quiet"
              icon="download"
              label={`Save ${path}`}
              onClick={async () =>
                saveBlob(await reader.download(experiment_id, path), path.split('/').at(-1) ?? path)
              }
            />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Read the blocks of a report in turn. Their experiments have no page for the holder of a link. */
const blocksOf = (reader: LinkReader) => ({
  project_id: undefined,
  read: inTurn((number) => reader.block(number)),
  picture: ({ run, path }: { run: { experiment_id: string }; path: string }) =>
    reader.download(run.experiment_id, path),
});

function Content({ reader }: { reader: LinkReader }) {
  const { kind, title, text, project, files, metric, expires_at, experiments, complete } = reader.shared;
  const blocks = useMemo(() => blocksOf(reader), [reader]);
  const [first] = experiments;
  const name = kind === 'experiment' ? first?.name : title;
  usePageTitle(name ?? kinds[kind]);
  return (
    <>
      <h1>
        <bdi>{name ?? kinds[kind]}</bdi>
      </h1>
      <p class="soft">
        {project !== null && (
          <>
            <bdi>{project}</bdi>,{' '}
          </>
        )}
        shared until {expires_at.slice(0, 10)}
        {metric !== null && kind !== 'experiment' && (
          <>
            , ranked by <bdi>{metric}</bdi>
          </>
        )}
      </p>
      {!complete && <p class="soft small">The first {plural(experiments.length, 'experiment')}.</p>}
      {text !== null && (
        <ReportText title={title ?? kinds[kind]} text={text} version={expires_at} reader={blocks} />
      )}
      {text === null && experiments.length === 0 && <Empty title="No experiments yet" icon="chart" />}
      <div class={kind === 'experiment' ? 'shared-run' : 'shared-runs'}>
        {text === null && (
          <div class="compare-table" tabIndex={0} role="group" aria-label={kinds[kind]}>
            <table>
              <Headings
                of={[
                  hiddenHeading('Name'),
                  ...(kind === 'experiment'
                    ? ['Value']
                    : experiments.map((run) => ({ name: <bdi>{run.name}</bdi> }))),
                ]}
              />
              <tbody>
                <tr>
                  <th scope="row">status</th>
                  {experiments.map((experiment) => (
                    <td key={experiment.experiment_id}>
                      <RunStatus run={experiment} />
                    </td>
                  ))}
                </tr>
                <Rows
                  name="Run"
                  all={experiments}
                  values={({ duration, user, commit, best }) => ({
                    ...(duration !== null && { duration: durationText(duration) }),
                    ...(user !== null && { user }),
                    ...(commit !== null && { commit: commit.slice(0, 12) }),
                    ...(best !== null && { best: numberText(best.value) }),
                  })}
                />
                <Rows name="Metrics" all={experiments} values={metricsOf} />
                <Rows name="Params" all={experiments} values={({ params }) => params} />
                <Rows name="Tags" all={experiments} values={({ tags }) => tags} />
              </tbody>
            </table>
          </div>
        )}
        {experiments.map((experiment, index) => (
          <section key={experiment.experiment_id}>
            {experiments.length > 1 && (
              <h2>
                <bdi>{experiment.name}</bdi>
              </h2>
            )}
            {experiment.note !== null && experiment.note !== '' && <Markdown text={experiment.note} />}
            <Chart reader={reader} experiment={experiment} isOpen={index < drawnAtOnce} />
            {files && <Files reader={reader} experiment={experiment} />}
          </section>
        ))}
      </div>
    </>
  );
}

/** Page of a link, for readers without an account. It leads nowhere else. */
export function SharedPage({ secret }: { secret: string }) {
  const [reader, setReader] = useState<LinkReader>();
  const [error, setError] = useState<unknown>();
  usePageTitle('Shared');
  const load = () => {
    setError(undefined);
    return readLink(secret).then(setReader, setError);
  };
  useEffect(() => void load(), [secret]);
  return (
    <main class="shared" id="main" tabIndex={-1}>
      {error instanceof ProblemError && error.status === 404 ? (
        <Empty title="This link has ended or was revoked" icon="clock" />
      ) : error !== undefined ? (
        <Problem error={error} onRetry={load} what="The link could not be opened" />
      ) : reader === undefined ? (
        <Skeleton rows={10} />
      ) : (
        <Content reader={reader} />
      )}
    </main>
  );
}
