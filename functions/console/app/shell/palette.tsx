import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import { loadModels } from '../api/models.ts';
import { loadProjects } from '../api/projects.ts';
import { findRuns } from '../api/recent.ts';
import { ownRights } from '../api/rights.ts';
import { person, signOut } from '../api/session.ts';
import { sweepsPage } from '../api/sweeps.ts';
import { setTheme } from '../theme/theme.ts';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { go, href, place } from '../ui/router.ts';

interface Entry {
  id: string;
  name: string;
  about: string;
  icon: IconName;
  act: () => void;
}

const most = 12;

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
      ['?', 'This list'],
    ],
  },
  {
    title: 'Charts',
    keys: [
      ['t', 'Next horizontal axis'],
      ['m', 'Choose a metric as the horizontal axis'],
      ['l', 'Logarithmic vertical axis'],
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

const opens = (id: string, name: string, about: string, icon: IconName, to: string): Entry => ({
  id,
  name,
  about,
  icon,
  act: () => go(to),
});

function actions(): Entry[] {
  const { mayCreate, mayRead } = ownRights();
  const act = (name: string, icon: IconName, run: () => void): Entry => ({
    id: name,
    name,
    about: 'action',
    icon,
    act: run,
  });
  return [
    opens('home', 'Home', 'page', 'home', href([])),
    ...(mayRead ? [opens('projects', 'Projects', 'page', 'folder', href(['projects']))] : []),
    ...(mayRead ? [opens('models', 'Models', 'page', 'cube', href(['models']))] : []),
    opens('account', 'Account', 'page', 'person', href(['account'])),
    ...(person.value?.account_type === 'admin'
      ? [opens('users', 'Users', 'page', 'people', href(['users']))]
      : []),
    ...(mayCreate ? [act('Upload a model', 'upload', () => go(href(['models'], { upload: '1' })))] : []),
    act('Dark theme', 'bolt', () => setTheme('dark')),
    act('Light theme', 'bolt', () => setTheme('light')),
    act('Theme of the system', 'bolt', () => setTheme('system')),
    act('Sign out', 'out', () => void signOut()),
  ];
}

/** Parts and buttons of the open page that change only what is shown, and the columns it can be sorted by. */
const pressed =
  'main :is(nav.tabs a, .bar-row > .button:not(.danger), .view-row button, [role=columnheader] button, th[aria-sort] button)';

/** What a click on the open page does. */
function pageActions(): Entry[] {
  const found = [...document.querySelectorAll<HTMLElement>(pressed)];
  return found.flatMap((element) => {
    const name = element.ariaLabel ?? (element.title || element.innerText);
    const isLink = element.matches('a');
    return name === '' || element.ariaCurrent === 'page'
      ? []
      : [
          {
            id: `page/${name}`,
            name,
            about: 'on this page',
            icon: isLink ? 'right' : 'bolt',
            act: () => element.click(),
          } as const,
        ];
  });
}

/** Load what can be opened. A part that fails is left out. */
async function loadEntries(): Promise<Entry[]> {
  const or = <T,>(list: Promise<T[]>): Promise<T[]> => list.catch(() => []);
  const [room, open] = place.value.parts;
  const [projects, models, sweeps] = await Promise.all([
    or(loadProjects()),
    or(loadModels()),
    room === 'projects' && open !== undefined ? or(newestSweeps(open)) : [],
  ]);
  return [
    ...sweeps.map(({ project_id, sweep_id, name }) =>
      opens(sweep_id, name, 'sweep', 'chart', href(['projects', project_id, 'sweeps', sweep_id])),
    ),
    ...projects.map(({ project_id, project_name }) =>
      opens(project_id, project_name, 'project', 'folder', href(['projects', project_id])),
    ),
    ...models.map(({ model_id, model_name }) =>
      opens(model_id, model_name, 'model', 'cube', href(['models', model_name])),
    ),
  ];
}

/** Sweeps of the open project that are offered: the newest. */
const newestSweeps = async (project_id: string) => (await sweepsPage(project_id, maxSweeps)).rows;
const maxSweeps = 50;

/** Search over projects, runs, models, sweeps of the open project, and actions; or the list of keys. */
export function Palette({
  isHelp,
  takeAhead,
  onClose,
}: {
  isHelp: boolean;
  /** Take the text that was typed before the field was there. */
  takeAhead: () => string;
  onClose: () => void;
}) {
  const id = useId();
  const [text, setText] = useState('');
  // The dialog has the keys only once its own effect has opened it.
  useEffect(() => setText(takeAhead()), []);
  const onPage = useMemo(pageActions, []);
  const [active, setActive] = useState(0);
  const [loaded, setLoaded] = useState<readonly Entry[]>([]);
  useEffect(() => {
    if (isHelp || !ownRights().mayRead) return;
    let isGone = false;
    void loadEntries().then((entries) => {
      if (!isGone) setLoaded(entries);
    });
    return () => {
      isGone = true;
    };
  }, [isHelp]);
  const [runs, setRuns] = useState<Awaited<ReturnType<typeof findRuns>>>([]);
  useEffect(() => {
    const name = text.trim();
    if (name.length < 2 || !ownRights().mayRead) return setRuns([]);
    let isGone = false;
    const timer = setTimeout(() => {
      findRuns(name).then(
        (list) => {
          if (!isGone) setRuns(list);
        },
        () => undefined,
      );
    }, 200);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [text]);
  const found = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const unique = new Map([...actions(), ...onPage, ...loaded].map((entry) => [entry.id, entry]));
    for (const { experiment_id, project_id, name } of runs) {
      // Runs of several projects often have the same names.
      const project = unique.get(project_id)?.name;
      const to = href(['projects', project_id, 'experiments', experiment_id]);
      const about = project === undefined ? 'run' : `run in ${project}`;
      unique.set(experiment_id, opens(experiment_id, name, about, 'chart', to));
    }
    const all = [...unique.values()].filter(({ name, about }) =>
      words.every((word) => `${name} ${about}`.toLowerCase().includes(word)),
    );
    const first = words[0] ?? '';
    const starts = (entry: Entry) => Number(!entry.name.toLowerCase().startsWith(first));
    return all.sort((one, other) => starts(one) - starts(other)).slice(0, most);
  }, [text, onPage, loaded, runs]);
  if (isHelp)
    return (
      <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
        <div class="keys">
          {shortcuts.map(({ title, keys }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {keys.map(([key, what]) => (
                  <div key={key}>
                    <dt>{key.split(' ').map((one) => (one === '…' ? one : <kbd key={one}>{one}</kbd>))}</dt>
                    <dd>{what}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </Dialog>
    );
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
