import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { Rights } from '../api/rights.ts';
import { Curves } from '../charts/lazy-curves.ts';
import {
  bestColumn,
  type Column,
  columnOf,
  figuresFirst,
  joinIds,
  namesIn,
  splitIds,
  usualColumns,
} from '../runs/columns.ts';
import { isCriterion } from '../runs/metric-order.ts';
import { noteOrder } from '../runs/neighbours.ts';
import { Ranking } from '../runs/ranking.ts';
import type { Row } from '../runs/row.ts';
import { stylesOf } from '../theme/colours.ts';
import { Button } from '../ui/controls/button.tsx';
import { keep, keptOf, place, setQuery } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { lazy } from '../ui/states/lazy.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { isFinal } from '../ui/states/status.tsx';
import { plural } from '../ui/text/format.ts';
import { useKeys } from '../ui/use-keys.ts';
import { useNarrow } from '../ui/use-narrow.ts';
import { withCondition } from './filter/conditions.ts';
import { FilterBox } from './filter/filter-box.tsx';
import { useFiltered } from './filter/use-filtered.ts';
import { FirstRun, useFirstRun } from './first-run.tsx';
import { GroupChoice, maxGroupedBy } from './groups/group-choice.tsx';
import { isLoaded, valueOfColumn } from './loaded-values.ts';
import { type Judge, type Order, orderText, readOrder, sortRows, startsDescending } from './sort-rows.ts';
import { ExperimentsTable } from './table.tsx';
import { firstToDraw, useDrawables } from './use-drawables.ts';
import { useFittedColumns } from './use-fitted-columns.ts';
import { useRows } from './use-rows.ts';
import type { ColumnRange } from './use-visible-columns.ts';
import { type Ranked, ValueSelect, valueColumn, withValue } from './value-column.tsx';
import { withBaseline } from './views/baseline.ts';
import { pinsOf, togglePins } from './views/pins.ts';
import { type SavedView, viewSetting } from './views/saved-view.ts';
import { ViewTabs } from './views/view-tabs.tsx';

const maxDrawn = 100;

const ChosenBar = lazy(() => import('./choice/chosen-bar.tsx').then((module) => module.ChosenBar));
const ChooseColumns = lazy(() => import('./choose-columns.tsx').then((module) => module.ChooseColumns));
const DeletedRuns = lazy(() => import('./choice/deleted-runs.tsx').then((module) => module.DeletedRuns));
const GroupedView = lazy(() => import('./groups/grouped-view.tsx').then((module) => module.GroupedView));
const ValuesPanel = lazy(() => import('./values/values-panel.tsx').then((module) => module.ValuesPanel));

const keptIds = (key: string): string[] | undefined => {
  const text = localStorage.getItem(key);
  return text === null ? undefined : splitIds(text);
};

const orderOf = (text: string | null, ranking: Ranking, judge: Judge | undefined): Order | undefined => {
  if (text === null || text === '') return undefined;
  const { id, isDescending } = readOrder(text, judge);
  const column = columnOf(id);
  return column && { column: column.id === 'best' ? bestColumn(ranking) : column, isDescending };
};

/** Return a column whose values are not loaded yet. */
const unread = (column: Column): Column => ({ ...column, value: () => undefined, text: () => '…' });

/** Return how many rows are shown. Order, filter and means cover only the loaded ones. */
function countText(
  { length: shown }: readonly Row[],
  { length: all }: readonly Row[],
  { isComplete, total }: { isComplete: boolean; total: number },
): string {
  const number = (count: number): string => count.toLocaleString('en');
  if (!isComplete) return `Loading… ${number(all)} of ${number(Math.max(all, total))}`;
  return `${shown === all ? '' : `${number(shown)} of `}${plural(all, 'experiment')}`;
}

/** Table of a project's experiments. The page's address holds filter, columns, order and groups. */
export function ExperimentsTab({
  project_id,
  total,
  rights: { mayChange, mayOwn },
  views,
  onViews,
  baseline,
  onBaseline,
  judge,
  onJudge,
}: {
  project_id: string;
  /** Number of the project's experiments when it was loaded. */
  total: number;
  rights: Rights;
  /** Saved views of the project. */
  views: readonly SavedView[];
  /** Called after a change of these. */
  onViews: () => Promise<unknown>;
  /** ID of the experiment that the others are compared with. */
  baseline: string | undefined;
  onBaseline: (row: Row | undefined) => void;
  /** Undefined until the project is loaded. */
  judge: Judge | undefined;
  /** Called with the criterion that the project is to have. */
  onJudge: (judge: Judge) => void;
}) {
  const { rows, isComplete, error, heavy, want, complete, refresh, renew, drop } = useRows(project_id, total);
  useFirstRun(rows, isComplete && rows.length === 0);
  const ranking = useMemo(() => new Ranking(judge), [judge?.name, judge?.goal]);
  const { query } = place.value;
  const [isChoosing, setChoosing] = useState(false);
  /** Whether the tools beside the filter are shown on a phone. */
  const [isToolsOpen, setToolsOpen] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => keptOf('chosen') ?? new Set());
  const key = `mps-columns-${project_id}`;

  const names = useMemo(() => heavy?.names ?? namesIn(rows), [heavy?.names, rows]);
  const given = query.get('columns');
  const ids = useMemo(
    () => (given === null ? (keptIds(key) ?? usualColumns(names, judge)) : splitIds(given)),
    [given, key, names, judge?.name],
  );
  const idText = joinIds(ids);
  const value = query.get('value') || undefined;
  const baselineRow = useMemo(
    () => (baseline === undefined ? undefined : rows.find(({ experiment_id }) => experiment_id === baseline)),
    [rows, baseline],
  );
  const unpadded = useMemo(() => {
    const wanted = splitIds(idText).flatMap((id) => columnOf(id) ?? []);
    if (value !== undefined) return withValue(wanted, valueColumn(value, judge));
    return wanted.map((column) => (column.id === 'best' ? bestColumn(ranking, judge?.name) : column));
  }, [idText, value, ranking]);
  const loaded = heavy?.loaded;
  const present = useMemo(
    () => unpadded.map((column) => (isLoaded(loaded, valueOfColumn(column.id)) ? column : unread(column))),
    [unpadded, loaded],
  );
  const plainColumns = useFittedColumns(present, rows);
  const columns = useMemo(
    () => withBaseline(plainColumns, baselineRow, judge),
    [plainColumns, baselineRow, judge?.name, judge?.goal],
  );
  const filter = query.get('filter') ?? '';
  const { filtered, values: ofFilter } = useFiltered(rows, filter, { ranking, names, loaded });
  const sortText = query.get('sort');
  const order = useMemo(() => orderOf(sortText, ranking, judge), [sortText, ranking]);
  const pinned = pinsOf(project_id);
  const pinnedKey = [...pinned].join();
  const sorted = useMemo(() => {
    const inOrder = order === undefined ? filtered.rows : sortRows(filtered.rows, order);
    const placeOf = ({ experiment_id: id }: Row) => (id === baseline ? 0 : pinned.has(id) ? 1 : 2);
    const isPlain = baseline === undefined && pinned.size === 0;
    return isPlain ? inOrder : [0, 1, 2].flatMap((at) => inOrder.filter((row) => placeOf(row) === at));
  }, [filtered.rows, order, baseline, pinnedKey]);
  useEffect(() => {
    noteOrder(
      project_id,
      sorted.map(({ experiment_id }) => experiment_id),
    );
  }, [sorted]);
  const group = query.get('group') ?? '';
  const groupIds = useMemo(() => splitIds(group).slice(0, maxGroupedBy), [group]);
  const by = useMemo(() => groupIds.flatMap((id) => columnOf(id) ?? []), [groupIds]);
  const isGrouped = by.length > 0;

  const setIds = (next: readonly string[]) => {
    // A view has columns of its own.
    if (query.get(viewSetting) === null) localStorage.setItem(key, joinIds(next));
    setQuery({ columns: joinIds(next) });
  };
  const sort = (column: Column) => {
    const isFirst = order?.column.id !== column.id;
    const isDownFirst = startsDescending(column, judge);
    if (isFirst) return setQuery({ sort: orderText(column, isDownFirst, judge) });
    if (order?.isDescending === isDownFirst)
      return setQuery({ sort: orderText(column, !isDownFirst, judge) });
    return setQuery({ sort: undefined });
  };
  /** Rank by a metric: in the project if the user may change it, else in the address only. The best rows come to the top. */
  const rankBy = (by: Ranked | undefined) => {
    const isForAll = by !== undefined && mayChange;
    const column = by === undefined || isForAll ? columnOf('best') : valueColumn(by.name, by);
    const isDown = column !== undefined && startsDescending(column, by ?? judge);
    setQuery({
      value: isForAll ? undefined : by?.name,
      sort: column && orderText(column, isDown, by ?? judge),
    });
    if (isForAll) onJudge(by);
  };
  const setAllChosen = (next: ReadonlySet<string>) => {
    keep('chosen', next);
    setChosen(next);
  };
  const chosenRows = useMemo(
    () => (chosen.size === 0 ? [] : sorted.filter(({ experiment_id }) => chosen.has(experiment_id))),
    [sorted, chosen],
  );

  const panel = query.get('panel');
  const isDrawing = panel === 'curves';
  const isPlotting = panel === 'values' && !isGrouped;
  const togglePanel = (one: string) => setQuery({ panel: panel === one ? undefined : one });
  useKeys({ v: () => togglePanel('curves') });
  const isTight = useNarrow() || isDrawing;
  const shownColumns = useMemo(() => (isTight ? figuresFirst(columns) : columns), [isTight, columns]);
  const [range, setRange] = useState<ColumnRange>();
  const ranked = useMemo(
    () => names.metrics.filter((name) => isCriterion(name, judge)),
    [names, judge?.name],
  );
  const values = useMemo(() => {
    const shown = isGrouped
      ? columns
      : range === undefined
        ? []
        : shownColumns.slice(range.first, range.last);
    const used = [...shown, ...by, ...(order === undefined ? [] : [order.column])];
    return [
      ...ranked.map((name) => `metrics.${name}`),
      ...used.flatMap(({ id }) => valueOfColumn(id) ?? []),
      ...ofFilter,
    ];
  }, [isGrouped, columns, shownColumns, range, by, order, ranked, ofFilter]);
  const valueKey = JSON.stringify(values);
  useLayoutEffect(() => want([...new Set(values)]), [valueKey]);
  /** Rows that the brushes of the plots choose; undefined without a brush. */
  const [ofBrushes, setOfBrushes] = useState<readonly Row[]>();
  const brushed = (isPlotting ? ofBrushes : undefined) ?? sorted;
  const drawnRows = useMemo(() => {
    if (!isDrawing) return [];
    const ofChoice = chosenRows.slice(0, maxDrawn);
    const wanted = ofChoice.length > 0 ? ofChoice : firstToDraw(sorted);
    return baselineRow === undefined || wanted.includes(baselineRow)
      ? wanted
      : [baselineRow, ...wanted.slice(0, maxDrawn - 1)];
  }, [isDrawing, sorted, chosenRows, baselineRow]);
  const drawables = useDrawables(drawnRows, complete);
  const drawnKey = drawnRows.map(({ experiment_id }) => experiment_id).join();
  const drawn = useMemo(
    () => (drawnKey === '' ? new Map<string, number>() : stylesOf(drawnKey.split(','))),
    [drawnKey],
  );

  if (query.get('deleted') !== null) return <DeletedRuns project_id={project_id} mayChange={mayChange} />;
  if (rows.length === 0) {
    if (error !== undefined)
      return <Problem error={error} onRetry={refresh} what="The experiments could not be loaded" />;
    if (!isComplete) return <Skeleton rows={10} />;
    return <FirstRun project_id={project_id} mayChange={mayChange} />;
  }

  const live = rows.filter(({ status }) => !isFinal(status)).length;
  return (
    <>
      <div class={isToolsOpen ? 'tool-row open' : 'tool-row'}>
        <FilterBox
          filter={filter}
          rows={rows}
          names={names}
          isFaulty={filtered.fault !== undefined}
          onFilter={(next) => setQuery({ filter: next })}
        />
        <span class="only-phone">
          <Button
            icon="filter"
            label="Order, groups and panels"
            expanded={isToolsOpen}
            onClick={() => setToolsOpen(!isToolsOpen)}
          />
        </span>
        <ValueSelect
          names={names.metrics}
          value={value}
          judge={judge}
          isForAll={mayChange}
          onValue={rankBy}
        />
        <GroupChoice ids={groupIds} names={names} onChange={(next) => setQuery({ group: next })} />
        <Button icon="chart" pressed={isDrawing} onClick={() => togglePanel('curves')}>
          Curves
        </Button>
        {!isGrouped && (
          <Button icon="plot" pressed={isPlotting} onClick={() => togglePanel('values')}>
            Plots
          </Button>
        )}
        <Button icon="columns" onClick={() => setChoosing(true)}>
          Columns
        </Button>
      </div>
      <div class="view-row">
        <ViewTabs
          project_id={project_id}
          shared={views}
          columns={joinIds(ids)}
          mayChange={mayChange}
          mayShare={mayOwn}
          onChange={onViews}
        />
        <p
          id="filter-hint"
          class={filtered.fault === undefined ? 'table-note' : 'table-note fault'}
          role="status"
        >
          {filtered.fault ??
            `${countText(filtered.rows, rows, { isComplete, total })}${live > 0 ? `, ${live} active` : ''}`}
          {filtered.reason !== undefined && `: ${filtered.reason}`}
          {error !== undefined && ' · the rest could not be loaded; retrying'}
          {mayChange && (
            <button
              type="button"
              class="as-link small deleted-link"
              onClick={() => setQuery({ deleted: '1' })}
            >
              Deleted
            </button>
          )}
        </p>
      </div>
      {isGrouped ? (
        <GroupedView
          rows={filtered.rows}
          by={by}
          columns={plainColumns}
          order={order}
          judge={judge}
          isDrawing={isDrawing}
          onSort={(column) => (column === undefined ? setQuery({ sort: undefined }) : sort(column))}
          onFilter={(condition) => setQuery({ group: undefined, filter: withCondition(filter, condition) })}
        />
      ) : filtered.rows.length === 0 ? (
        <Empty title="No experiment matches" icon="filter">
          <Button onClick={() => setQuery({ filter: undefined })}>Clear the filter</Button>
        </Empty>
      ) : (
        <div class={isDrawing ? 'beside' : ''}>
          {isPlotting && heavy !== undefined && <p class="soft small">Axes are the columns of the table.</p>}
          {isPlotting && <ValuesPanel experiments={sorted} judge={judge} onBrushed={setOfBrushes} />}
          <ExperimentsTable
            rows={brushed}
            columns={shownColumns}
            order={order}
            chosen={chosen}
            drawn={drawn}
            pinned={pinned}
            baseline={baselineRow?.experiment_id}
            ranking={ranking}
            onRange={setRange}
            onChosen={setAllChosen}
            onSort={sort}
            onPin={({ experiment_id }) => togglePins(project_id, [experiment_id])}
          />
          {isDrawing && (
            <section class="beside-panel" aria-label="Curves">
              <Curves isBeside experiments={drawables} judge={judge} baseline={baselineRow?.experiment_id} />
            </section>
          )}
        </div>
      )}
      {chosenRows.length > 0 && (
        <ChosenBar
          rows={chosenRows}
          matching={brushed.length}
          columns={unpadded}
          project_id={project_id}
          mayChange={mayChange}
          changes={{ renew, drop, complete }}
          baseline={baselineRow?.experiment_id}
          onBaseline={onBaseline}
          onPin={() =>
            togglePins(
              project_id,
              chosenRows.map(({ experiment_id }) => experiment_id),
            )
          }
          onAll={() => setAllChosen(new Set(brushed.map(({ experiment_id }) => experiment_id)))}
          onClear={() => setAllChosen(new Set())}
        />
      )}
      {isChoosing && (
        <ChooseColumns
          names={names}
          ids={ids}
          onChange={setIds}
          onReset={() => {
            localStorage.removeItem(key);
            setQuery({ columns: undefined });
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}
