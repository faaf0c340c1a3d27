import { numberText, plural } from '../ui/format.ts';
import type { Column } from './columns.ts';
import type { RowGroup } from './group-rows.ts';

const shownMost = 500;

/** Experiments by what they have in one column: how many, and mean ± deviation of every column of numbers. */
export function GroupTable({
  groups,
  by,
  columns,
  onOpen,
}: {
  groups: readonly RowGroup[];
  by: Column;
  columns: readonly Column[];
  onOpen: (value: string) => void;
}) {
  const numbers = columns.filter(
    (column) => column.isNumber && groups.some(({ spreads }) => spreads.has(column.id)),
  );
  return (
    <div class="table grouped" tabIndex={0} role="group" aria-label={`Experiments by ${by.label}`}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">
              <bdi>{by.label}</bdi>
            </th>
            <th scope="col" class="right">
              Experiments
            </th>
            {numbers.map((column) => (
              <th key={column.id} scope="col" class="right">
                {column.group !== undefined && <small>{column.group} </small>}
                <bdi>{column.label}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.slice(0, shownMost).map(({ value, rows, spreads }) => (
            <tr key={value ?? '\0'}>
              <th scope="row">
                {value === undefined ? (
                  <span class="soft">without one</span>
                ) : (
                  <button
                    type="button"
                    class="as-link"
                    onClick={() => onOpen(value)}
                    title="Show these experiments"
                  >
                    <bdi>{value}</bdi>
                  </button>
                )}
              </th>
              <td class="right">{rows.length.toLocaleString('en')}</td>
              {numbers.map((column) => {
                const spread = spreads.get(column.id);
                return (
                  <td key={column.id} class="right">
                    {spread === undefined ? (
                      '–'
                    ) : (
                      <>
                        {numberText(spread.mean)}
                        {spread.deviation !== undefined && (
                          <span class="soft"> ± {numberText(Number(spread.deviation.toPrecision(2)))}</span>
                        )}
                      </>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {groups.length > shownMost && (
        <p class="soft">
          The {plural(shownMost, 'largest group')} of {groups.length.toLocaleString('en')}.
        </p>
      )}
    </div>
  );
}
