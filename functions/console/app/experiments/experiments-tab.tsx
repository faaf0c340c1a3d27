import { useMemo, useState } from 'preact/hooks';
import { href, keep, keptOf, place, setQuery } from '../router.ts';
import { Button, Empty, LinkButton, Problem, Skeleton } from '../ui/parts.tsx';
import { isFinal } from '../ui/status.tsx';
import { plural } from '../ui/text/format.ts';
import { ChooseColumns } from './choose-columns.tsx';
import { type Column, columnOf, joinIds, namesIn, splitIds, usualColumns } from './columns.ts';
import { conditionFor, conditionForBin, filterRows } from './filter-rows.ts';
import { FirstRun } from './first-run.tsx';
import { groupRows, sortGroups } from './group-rows.ts';
import { GroupTable } from './group-table.tsx';
import { type Judge, type Order, sortRows, startsDescending } from './sort-rows.ts';
import { ExperimentsTable } from './table.tsx';
import { useRows } from './use-rows.ts';
import { ValueSelect, valueColumn, withValue } from './value-column.tsx';

const maxCompare = 50;

const keptIds = (key: string): string[] | undefined => {
  const text = localStorage.getItem(key);
  return text === null ? undefined : splitIds(text);
};

const orderOf = (text: string | null): Order | undefined => {
  if (text === null || text === '') return undefined;
  const isDescending = text.startsWith('-');
  const column = columnOf(isDescending ? text.slice(1) : text);
  return column && { column, isDescending };
};

/** Return the text for an incomplete table. Order, filter and means cover only the loaded rows. */
const loadingText = (count: number, isPartial: boolean): string =>
  isPartial
    ? `; only the newest ${count.toLocaleString('en')} are covered until the others are loaded`
    : ', loading more…';

/** Table of a project's experiments. The page's address holds filter, columns, order and groups. */
export function ExperimentsTab({
  project_id,
  mayChange,
  judge,
}: {
  project_id: string;
  mayChange: boolean;
  /** Undefined until the project is loaded. */
  judge: Judge | undefined;
}) {
  const { rows, isComplete, error, refresh } = useRows(
    project_id,
    judge === undefined ? '' : `${judge.goal} ${judge.name}`,
  );
  const { query } = place.value;
  const [isChoosing, setChoosing] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => keptOf('chosen') ?? new Set());
  const key = `mps-columns-${project_id}`;

  const names = useMemo(() => namesIn(rows), [rows]);
  const given = query.get('columns');
  const ids = useMemo(
    () => (given === null ? (keptIds(key) ?? usualColumns(names)) : splitIds(given)),
    [given, key, names],
  );
  const idText = joinIds(ids);
  const value = query.get('value') || undefined;
  const columns = useMemo(() => {
    const wanted = splitIds(idText).flatMap((id) => columnOf(id) ?? []);
    if (value !== undefined) return withValue(wanted, valueColumn(value, judge));
    return wanted.map((column) =>
      column.id === 'best' && judge !== undefined ? { ...column, group: judge.name } : column,
    );
  }, [idText, value, judge?.name, judge?.goal]);
  const filter = query.get('filter') ?? '';
  const filtered = useMemo(() => filterRows(rows, filter), [rows, filter]);
  const sortText = query.get('sort');
  const order = useMemo(() => orderOf(sortText), [sortText]);
  const sorted = useMemo(
    () => (order === undefined ? filtered.rows : sortRows(filtered.rows, order)),
    [filtered.rows, order],
  );
  const group = query.get('group') ?? '';
  const by = group === '' ? undefined : columnOf(group);
  const groups = useMemo(
    () => (by === undefined ? [] : sortGroups(groupRows(filtered.rows, by, columns), by, order)),
    [filtered.rows, by, columns, order],
  );

  const setIds = (next: readonly string[]) => {
    localStorage.setItem(key, joinIds(next));
    setQuery({ columns: joinIds(next) });
  };
  const sort = (column: Column) => {
    const isFirst = order?.column.id !== column.id;
    const isDownFirst = startsDescending(column, judge);
    if (isFirst) return setQuery({ sort: `${isDownFirst ? '-' : ''}${column.id}` });
    if (order?.isDescending === isDownFirst)
      return setQuery({ sort: `${isDownFirst ? '' : '-'}${column.id}` });
    return setQuery({ sort: undefined });
  };
  /** Compare by a metric: make it the first column and sort the best rows to the top. */
  const compareBy = (name: string | undefined) => {
    const column = name === undefined ? columnOf('best') : valueColumn(name, judge);
    const isDown = column !== undefined && startsDescending(column, judge);
    setQuery({ value: name, sort: `${isDown ? '-' : ''}${column?.id ?? ''}` });
  };
  const setAllChosen = (next: ReadonlySet<string>) => {
    keep('chosen', next);
    setChosen(next);
  };
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setAllChosen(next);
  };

  if (rows.length === 0) {
    if (error !== undefined)
      return <Problem error={error} onRetry={refresh} what="The experiments could not be loaded" />;
    if (!isComplete) return <Skeleton rows={10} />;
    return <FirstRun project_id={project_id} mayChange={mayChange} />;
  }

  const live = rows.filter(({ status }) => !isFinal(status)).length;
  const groupable = [
    ...names.tags.map((name) => `tags.${name}`),
    ...names.params.map((name) => `params.${name}`),
  ];
  return (
    <>
      <div class="bar-row">
        <search class="grow filter">
          <input
            type="search"
            aria-label="Filter"
            aria-describedby="filter-hint"
            spellcheck={false}
            placeholder="Filter: a name, or metrics.accuracy > 0.9 AND params.lr = 0.01"
            value={filter}
            {...(filtered.fault !== undefined && { 'aria-invalid': true })}
            onInput={({ currentTarget }) => setQuery({ filter: currentTarget.value })}
          />
        </search>
        <ValueSelect names={names.metrics} value={value} judge={judge} onValue={compareBy} />
        <label class="group-by">
          <span class="hidden">Group by</span>
          <select value={group} onChange={({ currentTarget }) => setQuery({ group: currentTarget.value })}>
            <option value="">No groups</option>
            <option value="config">Group by configuration</option>
            <option value="status">Group by status</option>
            {groupable.map((id) => (
              <option key={id} value={id}>
                Group by {id}
              </option>
            ))}
          </select>
        </label>
        <Button icon="columns" onClick={() => setChoosing(true)}>
          Columns
        </Button>
      </div>
      <p
        id="filter-hint"
        class={filtered.fault === undefined ? 'table-note' : 'table-note fault'}
        role="status"
      >
        {filtered.fault ??
          `${filtered.rows.length === rows.length ? plural(rows.length, 'experiment') : `${filtered.rows.length.toLocaleString('en')} of ${plural(rows.length, 'experiment')}`}${live > 0 ? `, ${live} live` : ''}${isComplete ? '' : loadingText(rows.length, order !== undefined || filter !== '' || by !== undefined)}`}
        {error !== undefined && ' · the rest could not be loaded; retrying'}
      </p>
      {by !== undefined ? (
        <GroupTable
          groups={groups}
          by={by}
          columns={columns}
          order={order}
          onSort={(column) => (column === undefined ? setQuery({ sort: undefined }) : sort(column))}
          onOpen={({ value = '', bin }) => {
            const [, kind, name = ''] = /^(params|tags)\.(.+)$/s.exec(by.id) ?? [];
            const condition =
              kind === 'params' || kind === 'tags'
                ? bin === undefined
                  ? conditionFor(kind, name, value)
                  : conditionForBin(kind, name, bin)
                : `${by.id} = '${value}'`;
            setQuery({ group: undefined, filter: [filter, condition].filter(Boolean).join(' AND ') });
          }}
        />
      ) : filtered.rows.length === 0 ? (
        <Empty title="No experiment matches" icon="filter">
          <Button onClick={() => setQuery({ filter: undefined })}>Clear the filter</Button>
        </Empty>
      ) : (
        <ExperimentsTable
          rows={sorted}
          columns={columns}
          order={order}
          chosen={chosen}
          onChoose={choose}
          onChooseAll={(isChosen) =>
            setAllChosen(
              new Set(isChosen ? sorted.slice(0, maxCompare).map(({ experiment_id }) => experiment_id) : []),
            )
          }
          onSort={sort}
        />
      )}
      {chosen.size > 0 && (
        <div class="chosen-bar" role="region" aria-label="Chosen experiments">
          <strong>{chosen.size} chosen</strong>
          {chosen.size > maxCompare && <span class="fault">at most {maxCompare} can be compared</span>}
          <Button kind="quiet" onClick={() => setAllChosen(new Set())}>
            Clear
          </Button>
          {chosen.size >= 2 && chosen.size <= maxCompare ? (
            <LinkButton
              href={href(['projects', project_id, 'compare'], { experiments: [...chosen].join(',') })}
              kind="primary"
              icon="chart"
            >
              Compare
            </LinkButton>
          ) : (
            <Button kind="primary" icon="chart" disabled>
              Compare
            </Button>
          )}
        </div>
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
