import { useEffect, useId, useState } from 'preact/hooks';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { type Entry, usePaletteEntries } from './palette-entries.ts';

/** Search over projects, runs, models, sweeps of the open project, and actions. */
export function Palette({
  takeAhead,
  onClose,
}: {
  /** Take the text that was typed before the field was there. */
  takeAhead: () => string;
  onClose: () => void;
}) {
  const id = useId();
  const [text, setText] = useState('');
  // The dialog has the keys only once its own effect has opened it. Some may have come into the field since.
  useEffect(() => {
    const ahead = takeAhead();
    setText((typed) => ahead + typed);
  }, []);
  const [active, setActive] = useState(0);
  const found = usePaletteEntries(text);
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.act();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-label="Search projects, runs, models, sweeps and actions"
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          {...(found[active] !== undefined && { 'aria-activedescendant': `${id}-${active}` })}
          autocomplete="off"
          placeholder="A project, run, model, sweep or action"
          autofocus
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setActive(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault();
              run(found[active]);
            }
            if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
            event.preventDefault();
            const step = event.key === 'ArrowDown' ? 1 : -1;
            setActive((active + step + found.length) % Math.max(1, found.length));
          }}
        />
        <ul id={`${id}-list`} role="listbox" aria-label="Results">
          {found.map((entry, index) => (
            <li
              key={entry.id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              onPointerDown={() => run(entry)}
            >
              <Icon name={entry.icon} />
              <bdi class="ellipsis grow">{entry.name}</bdi>
              <span class="soft small ellipsis about">
                <bdi>{entry.about}</bdi>
              </span>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p class="soft">Nothing matches.</p>}
      </div>
    </Dialog>
  );
}
