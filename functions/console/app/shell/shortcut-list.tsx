import { Dialog } from '../ui/controls/dialog.tsx';

/** Dialog with all keys of the console. */
export const ShortcutList = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
    <div class="keys">
      {shortcuts.map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>{key.split(' ').map((name) => (name === '…' ? name : <kbd key={name}>{name}</kbd>))}</dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  </Dialog>
);

const shortcuts = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl K', 'Search projects, runs, models, sweeps of the open project, and actions'],
      ['/', 'Go to the filter or search of the page'],
      ['1 … 9', 'Open a part of the page'],
      ['e', 'Edit'],
      ['u', 'Undo'],
      ['n', 'Go to the name of a new variable or secret'],
      ['n N', 'In a log: the next and the previous line found'],
      ['?', 'This list'],
    ],
  },
  {
    title: 'Charts',
    keys: [
      ['t', 'Next horizontal axis'],
      ['m', 'Choose a metric as the horizontal axis'],
      ['l', 'Logarithmic vertical axis'],
      ['0', 'Back from a zoom. Drag to zoom, with Shift to move'],
      ['s', 'Go to the smoothing, the step of pictures, or a point of the trade-off'],
    ],
  },
  {
    title: 'Table',
    keys: [
      ['j k', 'Next and previous row'],
      ['Enter', 'Open the row'],
      ['x', 'Choose the row'],
      ['X', 'Choose the rows from the last choice to this one'],
      ['a', 'Choose all rows that are shown'],
      ['p', 'Pin the row to the top'],
      ['b', 'Sort by the best value'],
      ['v', 'Show curves beside the table'],
      ['[ ]', 'On the page of an experiment: the one before and after it in the table'],
    ],
  },
  {
    title: 'Chosen rows',
    keys: [
      ['c', 'Compare'],
      ['g', 'Tag'],
      ['d', 'Delete'],
    ],
  },
] as const;
