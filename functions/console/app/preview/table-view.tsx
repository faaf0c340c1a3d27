import { useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { numberText, plural } from '../ui/text/format.ts';
import { decimalsOf, pointPad } from '../ui/text/point-pad.ts';
import { useVirtual } from '../ui/use-virtual.ts';
import type { Cell, TableData } from './table-data.ts';

const rowHeight = 32;
const maxColumns = 200;
const maxCellText = 200;

const cellText = (cell: Cell | undefined): string => {
  if (cell === null || cell === undefined) return '–';
  const text = typeof cell === 'number' ? numberText(cell) : String(cell);
  return text.length > maxCellText ? `${text.slice(0, maxCellText)}…` : text;
};

/** Compare cells: numbers by value, then texts, empty ones last. */
function compareCells(one: Cell | undefined, other: Cell | undefined): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one === 'number') return -1;
  if (typeof other === 'number') return 1;
  return String(one).localeCompare(String(other), 'en', { numeric: true });
}

const isEmpty = (cell: Cell | undefined): boolean => cell === null || cell === undefined || cell === '';

function sorted(rows: TableData['rows'], order: { column: number; isDescending: boolean } | undefined) {
  if (order === undefined) return rows;
  const sign = order.isDescending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one, other] = [a[order.column], b[order.column]];
    if (isEmpty(one) || isEmpty(other)) return Number(isEmpty(one)) - Number(isEmpty(other));
    return sign * compareCells(one, other);
  });
}

function countText(table: TableData, found: number): string {
  const { rows, total, isWhole, columns } = table;
  const parts: string[] = [];
  if (found !== rows.length) parts.push(`${found.toLocaleString('en')} of ${plural(rows.length, 'row')}`);
  else if (isWhole) parts.push(plural(rows.length, 'row'));
  else
    parts.push(
      `The first ${rows.length.toLocaleString('en')} of ${total === undefined ? `more than ${rows.length.toLocaleString('en')}` : total.toLocaleString('en')} rows`,
    );
  if (columns.length > maxColumns)
    parts.push(`${maxColumns} of ${columns.length.toLocaleString('en')} columns`);
  return `${parts.join(', ')}${isWhole ? '' : '. Download the file for the rest.'}`;
}

/** Table with sorting by each column and a search over all cells. */
export function TableView({ table }: { table: TableData }) {
  const [order, setOrder] = useState<{ column: number; isDescending: boolean }>();
  const [wanted, setWanted] = useState('');
  const scroller = useRef<HTMLDivElement>(null);
  const columns = table.columns.slice(0, maxColumns);
  const found = useMemo(() => {
    const text = wanted.trim().toLowerCase();
    return text === ''
      ? table.rows
      : table.rows.filter((row) =>
          row.some((cell) =>
            String(cell ?? '')
              .toLowerCase()
              .includes(text),
          ),
        );
  }, [table, wanted]);
  const rows = useMemo(() => sorted(found, order), [found, order]);
  const isNumber = useMemo(
    () =>
      columns.map((_, index) => {
        const some = table.rows.slice(0, 100).flatMap((row) => (isEmpty(row[index]) ? [] : [row[index]]));
        return some.length > 0 && some.every((cell) => typeof cell === 'number');
      }),
    [table],
  );
  const decimals = useMemo(
    () =>
      columns.map((_, index) =>
        Math.max(0, ...table.rows.slice(0, 100).map((row) => decimalsOf(cellText(row[index])))),
      ),
    [table],
  );
  const { items, height } = useVirtual(scroller, rows.length, rowHeight);
  const top = items[0]?.start ?? 0;
  const bottom = Math.max(0, height - (items.at(-1)?.end ?? 0));
  const sort = (column: number) =>
    setOrder(
      order?.column !== column
        ? { column, isDescending: false }
        : order.isDescending
          ? undefined
          : { column, isDescending: true },
    );
  return (
    <div class="table-file">
      <div class="bar-row">
        <input
          type="search"
          class="grow"
          aria-label="Find in the table"
          placeholder="Find in the table"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
        <span class="soft small" role="status">
          {countText(table, rows.length)}
        </span>
      </div>
      <div class="scroll-x preview-table" tabIndex={0} role="group" aria-label="Table" ref={scroller}>
        <table aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              {columns.map((name, index) => {
                const isSorted = order?.column === index;
                return (
                  <th
                    key={index}
                    scope="col"
                    class={isNumber[index] ? 'right' : ''}
                    aria-sort={isSorted ? (order.isDescending ? 'descending' : 'ascending') : 'none'}
                  >
                    <button type="button" onClick={() => sort(index)}>
                      <bdi>{name || `Column ${index + 1}`}</bdi>
                      {isSorted && <Icon name={order.isDescending ? 'down' : 'up'} size={12} />}
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {top > 0 && (
              <tr class="spacer">
                <td colSpan={columns.length} style={{ height: `${top}px`, padding: 0 }} />
              </tr>
            )}
            {items.map(({ index }) => (
              <tr key={index} aria-rowindex={index + 2}>
                {columns.map((_, column) => {
                  const text = cellText(rows[index]?.[column]);
                  return isNumber[column] ? (
                    <td key={column} class="right">
                      <bdi data-pad={pointPad(text, decimals[column] ?? 0)}>{text}</bdi>
                    </td>
                  ) : (
                    <td key={column}>
                      <bdi>{text}</bdi>
                    </td>
                  );
                })}
              </tr>
            ))}
            {bottom > 0 && (
              <tr class="spacer">
                <td colSpan={columns.length} style={{ height: `${bottom}px`, padding: 0 }} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}
