import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ReportBlock } from '../../../../shared/reports/parse-report.ts';
import { loadCompression } from '../api/models.ts';
import { useLive } from '../api/use-live.ts';
import { ReceiptView } from '../models/receipt.tsx';
import { Image } from '../ui/image.tsx';
import { Headings } from '../ui/listing.tsx';
import { href } from '../ui/router.ts';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { isFinal, RunStatus, Status } from '../ui/states/status.tsx';
import { numberText, plural } from '../ui/text/format.ts';
import type { Block, BlockData, BlockReader } from './report-calls.ts';
import { CurveSample, ReportChart } from './report-chart.tsx';

type Run = BlockData<'value'>['run'];

const runsOf = ({ data }: Block): Run[] =>
  'run' in data
    ? [data.run]
    : data.kind === 'table'
      ? data.rows.map(({ run }) => run)
      : data.kind === 'chart'
        ? data.charts.flatMap(({ curves }) => curves.map(({ run }) => run))
        : [];

const refreshMilliseconds = 15_000;

/** A block of a report: live data are read again while a run of it goes on. */
export function ReportBlockView({
  block,
  number,
  version,
  reader,
  children,
}: {
  block: ReportBlock;
  /** Number in the report, from 1. */
  number: number;
  /** Version of the report, whose change reads the block again. */
  version: string;
  reader: BlockReader;
  /** What a writer can do with it. */
  children?: ComponentChildren;
}) {
  const live = useLive<Block>(`report ${version} ${number} ${block.text}`, () => reader.read(number), {
    every: (shown) =>
      shown.frozen_at === null && runsOf(shown).some(({ status }) => !isFinal(status))
        ? refreshMilliseconds
        : undefined,
  });
  const { data: shown, error } = live;
  return (
    <figure class="report-block" aria-busy={shown === undefined && error === undefined}>
      <figcaption>
        <b>
          <bdi>{captionOf(block)}</bdi>
        </b>
        {shown?.frozen_at && (
          <span class="soft small" title={shown.frozen_at}>
            as of {shown.frozen_at.slice(0, 10)}
          </span>
        )}
        {children}
      </figcaption>
      {shown !== undefined ? (
        <Data data={shown.data} block={block} reader={reader} />
      ) : error !== undefined ? (
        <Problem error={error} onRetry={live.refresh} />
      ) : (
        <Skeleton rows={4} />
      )}
    </figure>
  );
}

/** A block in the place of its data, which the service reads from the stored report. */
export const UnsavedBlock = ({ block }: { block: ReportBlock }) => (
  <figure class="report-block">
    <figcaption>
      <b>
        <bdi>{captionOf(block)}</bdi>
      </b>
    </figcaption>
    <p class="soft small">Shown once the report is saved.</p>
  </figure>
);

/** Return the title of a block, or what it shows. */
function captionOf({ title, kind, metrics, view, path, show }: ReportBlock): string {
  if (title !== undefined) return title;
  if (kind === 'chart') return metrics.join(', ');
  if (kind === 'value') return `${show === 'best' ? '' : `${show} `}${metrics[0] ?? ''}`;
  if (kind === 'table') return view ?? 'Experiments';
  if (kind === 'picture') return path.split('/').at(-1) ?? path;
  return kind === 'sweep' ? 'Sweep' : 'Receipt';
}

function Data({
  data,
  block,
  reader,
}: {
  data: Block['data'];
  block: ReportBlock;
  reader: BlockReader;
}): ComponentChildren {
  const { project_id } = reader;
  if (data.kind === 'missing') return <p class="problem small">{data.reason}</p>;
  if (data.kind === 'value')
    return (
      <p class="report-value">
        <b>{numberText(data.value)}</b>
        <span class="soft small">
          <RunLink run={data.run} project_id={project_id} />
          {data.step !== null && `, step ${numberText(data.step)}`}
        </span>
      </p>
    );
  if (data.kind === 'table') return <Rows data={data} project_id={project_id} />;
  if (data.kind === 'chart') return <Charts data={data} block={block} project_id={project_id} />;
  if (data.kind === 'picture') return <Shown data={data} reader={reader} />;
  if (data.kind === 'receipt') return <Compressed data={data} isOpen={project_id !== undefined} />;
  const { name, status, metric, goal, trials, ended, best, sweep_id } = data;
  return (
    <>
      <p class="report-runs">
        {project_id === undefined ? (
          <bdi>{name}</bdi>
        ) : (
          <a href={href(['projects', project_id, 'sweeps', sweep_id])}>
            <bdi>{name}</bdi>
          </a>
        )}
        <Status status={status} />
        <span class="soft small">
          {ended} of {plural(trials, 'trial')}, {goal === 'maximize' ? 'highest' : 'lowest'}{' '}
          <bdi>{metric}</bdi>
        </span>
      </p>
      {best !== null && (
        <dl class="figures compact">
          <div>
            <dt>
              Best <bdi>{metric}</bdi>
            </dt>
            <dd>{numberText(best.value)}</dd>
          </div>
          {Object.entries(best.params).map(([param, value]) => (
            <div key={param}>
              <dt>
                <bdi>{param}</bdi>
              </dt>
              <dd>
                <bdi>{typeof value === 'number' ? numberText(value) : String(value)}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

const RunLink = ({ run, project_id }: { run: Run; project_id: string | undefined }) =>
  project_id === undefined ? (
    <bdi>{run.name}</bdi>
  ) : (
    <a href={href(['projects', project_id, 'experiments', run.experiment_id])}>
      <bdi>{run.name}</bdi>
    </a>
  );

function Rows({
  data: { columns, rows, complete },
  project_id,
}: {
  data: BlockData<'table'>;
  project_id: string | undefined;
}) {
  const isNumber = columns.map((_, index) => rows.every(({ values }) => isNumeric(values[index])));
  return (
    <>
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Experiments">
        <table class="data">
          <Headings
            of={[
              'Experiment',
              'Status',
              ...columns.map((column, index) => ({
                name: <bdi title={column}>{column.replace(/^(?:params|metrics|tags)\./, '')}</bdi>,
                class: isNumber[index] ? 'right' : '',
              })),
            ]}
          />
          <tbody>
            {rows.map(({ run, values }) => (
              <tr key={run.experiment_id}>
                <th scope="row">
                  <RunLink run={run} project_id={project_id} />
                </th>
                <td>
                  <RunStatus run={run} />
                </td>
                {values.map((value, index) => (
                  <td key={columns[index]} class={isNumber[index] ? 'right' : ''}>
                    <bdi>{isNumeric(value) ? numberText(value === null ? null : Number(value)) : value}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!complete && <p class="soft small">The first {plural(rows.length, 'experiment')}.</p>}
    </>
  );
}

const isNumeric = (value: string | number | null | undefined): boolean =>
  value == null || (value !== '' && Number.isFinite(Number(value)));

function Charts({
  data: { charts, complete },
  block: { title, isLog, notes },
  project_id,
}: {
  data: BlockData<'chart'>;
  block: ReportBlock;
  project_id: string | undefined;
}) {
  return (
    <>
      {charts.map((chart) => (
        <div key={chart.metric}>
          {(charts.length > 1 || title !== undefined || isLog) && (
            <p class="small">
              <bdi>{chart.metric}</bdi>
              {isLog && <span class="soft"> (log)</span>}
            </p>
          )}
          <ReportChart chart={chart} isLog={isLog} notes={notes} />
          <ul class="report-runs small">
            {chart.curves.map(({ run, values }, index) => (
              <li key={run.experiment_id}>
                <CurveSample index={index} />
                <RunLink run={run} project_id={project_id} />
                <span class="soft">{numberText(values.at(-1))}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {!complete && <p class="soft small">The first 10 experiments.</p>}
      {notes.length > 0 && (
        <ol class="report-notes small">
          {notes.map(({ step, text }, index) => (
            <li key={index}>
              <span class="soft">Step {numberText(step)}:</span> <bdi>{text}</bdi>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** Maximum bytes of a picture that is loaded into a page. */
const pictureMaxBytes = 10_000_000;

/** A picture of the service's storage. The page loads its bytes, because an `img` element sends no token. */
function Shown({ data, reader }: { data: BlockData<'picture'>; reader: BlockReader }) {
  const [url, setUrl] = useState<string>();
  const [error, setError] = useState<unknown>();
  const { run, path, size } = data;
  const isTooLarge = size > pictureMaxBytes;
  useEffect(() => {
    if (isTooLarge) return;
    let isGone = false;
    reader
      .picture(data)
      .then(dataUrl)
      .then((read) => !isGone && setUrl(read), setError);
    return () => {
      isGone = true;
    };
  }, [run.experiment_id, path, size]);
  if (isTooLarge) return <p class="soft small">The picture is over 10 MB.</p>;
  if (error !== undefined) return <Problem error={error} />;
  return (
    <>
      <div class="report-picture" aria-busy={url === undefined}>
        {url === undefined ? <Skeleton rows={4} /> : <Image src={url} alt={path} />}
      </div>
      <p class="soft small">
        <RunLink run={run} project_id={reader.project_id} />, <bdi>{path}</bdi>
      </p>
    </>
  );
}

/** Return a picture as a URL that a saved page has, too. */
const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

/** A receipt, with the rights of the reader: it belongs to a model of some user, not to the project. */
function Compressed({ data, isOpen }: { data: BlockData<'receipt'>; isOpen: boolean }) {
  const { compression, method } = data;
  const live = useLive(`receipt/${compression}`, async () =>
    isOpen ? await loadCompression({ operation: method, strategy_id: compression }) : undefined,
  );
  if (!isOpen) return <p class="soft small">A receipt is shown to users who may see its model.</p>;
  if (live.error !== undefined) return <Problem error={live.error} />;
  if (live.data === undefined)
    return (
      <div aria-busy>
        <Skeleton rows={4} />
      </div>
    );
  const { receipt } = live.data;
  return receipt === null ? (
    <p class="soft small">It has no receipt yet.</p>
  ) : (
    <ReceiptView receipt={receipt} />
  );
}
