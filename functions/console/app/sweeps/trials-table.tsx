import { useMemo, useState } from 'preact/hooks';
import type { Sweep } from '../api/sweeps.ts';
import { DataTable } from '../experiments/data-table.tsx';
import { type Order, sortRows, startsDescending } from '../experiments/sort-rows.ts';
import { useFittedColumns } from '../experiments/use-fitted-columns.ts';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { href, keep, keptOf, place, setQuery } from '../ui/router.ts';
import { plural } from '../ui/text/format.ts';
import { type Trial, trialColumns, trialLook } from './trial-columns.tsx';

const maxCompare = 50;
const nothingDrawn: ReadonlyMap<string, number> = new Map();

/** Trials of a sweep, the best first. The address holds the order. */
export function TrialsTable({
  sweep,
  trials,
  all,
  isComplete,
  error,
}: {
  sweep: Sweep;
  /** Those that are chosen in the charts. */
  trials: readonly Trial[];
  /** Number of all trials. */
  all: number;
  isComplete: boolean;
  error: unknown;
}) {
  const { sweep_id, goal } = sweep;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => keptOf('chosen') ?? new Set());
  // Names of an external sweep come with its trials.
  const names = [...new Set(trials.flatMap(({ params }) => Object.keys(params)))].join('\0');
  const unfitted = useMemo(
    () => trialColumns(sweep, names === '' ? [] : names.split('\0')),
    [sweep_id, JSON.stringify(sweep.parameters), names],
  );
  const columns = useFittedColumns(unfitted, trials);
  const look = useMemo(() => trialLook(sweep), [sweep_id]);
  const sortText = place.value.query.get('sort') ?? (goal === 'minimize' ? 'value' : '-value');
  const order = useMemo((): Order<Trial> | undefined => {
    const isDescending = sortText.startsWith('-');
    const column = columns.find(({ id }) => id === (isDescending ? sortText.slice(1) : sortText));
    return column && { column, isDescending };
  }, [sortText, columns]);
  const sorted = useMemo(() => (order === undefined ? trials : sortRows(trials, order)), [trials, order]);
  const choose = (next: ReadonlySet<string>): void => {
    keep('chosen', next);
    setChosen(next);
  };
  const sort = (column: (typeof columns)[number]): void => {
    const isDown = column.id === 'value' ? goal === 'maximize' : startsDescending(column, undefined);
    const isFirst = order?.column.id !== column.id;
    const isThird = !isFirst && order?.isDescending !== isDown;
    // A third click shows the trials in the order in which they began.
    setQuery({ sort: isThird ? 'trial' : `${isFirst === isDown ? '-' : ''}${column.id}` });
  };
  const picked = sorted.filter(({ experiment_id }) => chosen.has(experiment_id));
  return (
    <section aria-label="Trials">
      <p class="table-note" role="status">
        {trials.length < all && `${trials.length.toLocaleString('en')} of `}
        {plural(all, 'trial')}
        {!isComplete && error === undefined && ', loading more…'}
        {error !== undefined && ' · the rest could not be loaded; retrying'}
        <a
          class="small deleted-link"
          href={href(['projects', sweep.project_id], { filter: `sweep = '${sweep_id}'` })}
        >
          As experiments
        </a>
      </p>
      <DataTable
        what="Trial"
        rows={sorted}
        columns={columns}
        look={look}
        order={order}
        chosen={chosen}
        drawn={nothingDrawn}
        onChosen={choose}
        onSort={sort}
      />
      {picked.length > 0 && <ChosenTrials sweep={sweep} trials={picked} onClear={() => choose(new Set())} />}
    </section>
  );
}

function ChosenTrials({
  sweep: { project_id },
  trials,
  onClear,
}: {
  sweep: Sweep;
  trials: readonly Trial[];
  onClear: () => void;
}) {
  const ids = trials.flatMap(({ rows }) => rows.map(({ experiment_id }) => experiment_id));
  const mayCompare = ids.length >= 2 && ids.length <= maxCompare;
  return (
    <div class="chosen-bar" role="region" aria-label="Chosen trials">
      <strong>{trials.length.toLocaleString('en')} chosen</strong>
      {mayCompare ? (
        <LinkButton
          href={href(['projects', project_id, 'compare'], { experiments: ids.join(',') })}
          kind="primary"
          icon="chart"
        >
          Compare
        </LinkButton>
      ) : (
        <span
          title={ids.length < 2 ? 'Choose two or more' : `At most ${maxCompare} experiments can be compared`}
        >
          <Button kind="primary" icon="chart" disabled>
            Compare
          </Button>
        </span>
      )}
      <Button kind="quiet" icon="close" label="Clear the choice" onClick={onClear} />
    </div>
  );
}
