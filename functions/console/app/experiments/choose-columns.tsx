import { useState } from 'preact/hooks';
import {
  attributeColumns,
  type Column,
  courseColumn,
  metricColumn,
  type Names,
  paramColumn,
  tagColumn,
} from '../runs/columns.ts';
import { aggregates } from '../runs/row.ts';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { CheckField } from '../ui/controls/field.tsx';
import { nameMatcher } from '../ui/text/name-matcher.ts';
import { hasFingers, isDense, setDense } from './table-row.tsx';

const maxShown = 150;

/** Menu to choose the columns of the table. */
export function ChooseColumns({
  names,
  ids,
  onChange,
  onReset,
  onClose,
}: {
  names: Names;
  ids: readonly string[];
  onChange: (ids: string[]) => void;
  onReset: () => void;
  onClose: () => void;
}) {
  const [wanted, setWanted] = useState('');
  const chosen = new Set(ids);
  const toggle = ({ id }: Column) =>
    onChange(chosen.has(id) ? ids.filter((one) => one !== id) : [...ids, id]);
  const fits = nameMatcher(wanted);
  const box = (column: Column, label = column.label) => (
    <label key={column.id} class="check">
      <input type="checkbox" checked={chosen.has(column.id)} onChange={() => toggle(column)} />
      <bdi class="ellipsis">{label}</bdi>
    </label>
  );
  const lists = [
    { title: 'Params', columns: names.params.filter(fits).map(paramColumn) },
    { title: 'Tags', columns: names.tags.filter(fits).map(tagColumn) },
  ].filter(({ columns }) => columns.length > 0);
  const metrics = names.metrics.filter(fits);
  const attributes = [...attributeColumns, courseColumn].filter(({ label }) => fits(label));
  const [first] = [
    ...attributes,
    ...metrics.map((name) => metricColumn(name, 'last')),
    ...lists.flatMap(({ columns }) => columns),
  ];
  return (
    <Dialog title="Columns" onClose={onClose} wide>
      <p class="soft small">Your choice is part of the page's address, so a link shows the same table.</p>
      <div class="bar-row">
        <input
          type="search"
          class="grow"
          aria-label="Find columns"
          placeholder="Find; Enter takes the first"
          autofocus
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key === 'Enter' && wanted !== '' && first !== undefined) toggle(first);
          }}
        />
        {!hasFingers && (
          <CheckField checked={isDense.value} onCheck={setDense}>
            Dense rows
          </CheckField>
        )}
        <Button onClick={onReset}>Default columns</Button>
      </div>
      <div class="column-lists">
        <fieldset>
          <legend>Attributes</legend>
          {attributes.map((column) => box(column))}
        </fieldset>
        {metrics.length > 0 && (
          <fieldset class="metrics">
            <legend>Metrics</legend>
            {metrics.slice(0, maxShown).map((name) => (
              <div key={name} class="metric-choice">
                <bdi class="ellipsis">{name}</bdi>
                {aggregates.map((aggregate) => box(metricColumn(name, aggregate), aggregate))}
              </div>
            ))}
            {metrics.length > maxShown && (
              <p class="soft small">And {metrics.length - maxShown} more. Search for them above.</p>
            )}
          </fieldset>
        )}
        {lists.map(({ title, columns }) => (
          <fieldset key={title}>
            <legend>{title}</legend>
            {columns.slice(0, maxShown).map((column) => box(column))}
            {columns.length > maxShown && (
              <p class="soft small">And {columns.length - maxShown} more. Search for them above.</p>
            )}
          </fieldset>
        ))}
      </div>
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}
