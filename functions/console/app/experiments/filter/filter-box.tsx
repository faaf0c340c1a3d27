import { useId, useMemo, useState } from 'preact/hooks';
import { person } from '../../api/session.ts';
import type { Names } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';
import { completionsOf } from './completions.ts';
import { withCondition } from './conditions.ts';

const day = 86_400_000;

/** Condition that a click on a chip adds to the filter, and its pattern there. */
interface Chip {
  name: string;
  condition: () => string;
  holds: RegExp;
}

const chipFor = (name: string, condition: string): Chip => ({
  name,
  condition: () => condition,
  holds: new RegExp(`\\s*(?:AND\\s+)?${condition.replaceAll(/[.*+?^$|(){}[\]\\]/g, '\\$&')}`),
});

/** Chips of a user. A shared link with "Mine" shows everybody the same rows, because it holds the name. */
const chipsOf = (username: string): Chip[] => [
  chipFor('Failed', "status = 'FAILED'"),
  chipFor('Running', "status = 'RUNNING'"),
  chipFor('Mine', `user = '${username}'`),
  {
    name: '7 days',
    condition: () => `created_at > '${new Date(Date.now() - 7 * day).toISOString().slice(0, 10)}'`,
    holds: /\s*(?:AND\s+)?created_at > '[\d-]+'/,
  },
];

/** Box of the filter: completes names, operators and values, and has chips for what is asked most. */
export function FilterBox({
  filter,
  rows,
  names,
  isFaulty,
  onFilter,
}: {
  filter: string;
  rows: readonly Row[];
  names: Names;
  isFaulty: boolean;
  onFilter: (filter: string) => void;
}) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const found = useMemo(
    () => (isOpen ? completionsOf(filter, rows, names) : []),
    [filter, rows, names, isOpen],
  );
  const isShown = found.length > 0;
  const username = person.value?.username ?? '';
  const chips = useMemo(() => chipsOf(username), [username]);
  const take = (index: number) => {
    const chosen = found[index];
    if (chosen === undefined) return;
    setActive(-1);
    onFilter(chosen.filter);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isShown) {
      event.preventDefault();
      setOpen(false);
    } else if (isShown && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive((active + step + found.length + (active < 0 && step < 0 ? 1 : 0)) % found.length);
    } else if (isShown && active >= 0 && event.key === 'Enter') {
      event.preventDefault();
      take(active);
    }
  };
  return (
    <search class="grow filter filter-box">
      <input
        type="text"
        role="combobox"
        aria-label="Filter"
        aria-describedby="filter-hint"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        {...(active >= 0 && isShown && { 'aria-activedescendant': `${id}-${active}` })}
        autocomplete="off"
        spellcheck={false}
        placeholder="Filter: failed, lr < 0.001 or optimizer = lion"
        value={filter}
        {...(isFaulty && { 'aria-invalid': true })}
        onInput={({ currentTarget }) => {
          setOpen(true);
          setActive(-1);
          onFilter(currentTarget.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Completions" class="completions" hidden={!isShown}>
        {found.map(({ label, about }, index) => (
          <li
            key={label + about}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            onPointerDown={(event) => {
              event.preventDefault();
              take(index);
            }}
          >
            <bdi>{label}</bdi> <span class="soft small">{about}</span>
          </li>
        ))}
      </ul>
      <div class="filter-chips" role="group" aria-label="Often asked">
        {chips.map(({ name, condition, holds }) => {
          const isOn = holds.test(filter);
          return (
            <button
              key={name}
              type="button"
              aria-pressed={isOn}
              onClick={() =>
                onFilter(
                  isOn
                    ? filter
                        .replace(holds, '')
                        .replace(/^\s*AND\s+/, '')
                        .trim()
                    : withCondition(filter, condition()),
                )
              }
            >
              {name}
            </button>
          );
        })}
      </div>
    </search>
  );
}
