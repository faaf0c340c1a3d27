import { useEffect, useMemo, useState } from 'preact/hooks';
import { loadModels } from '../api/models.ts';
import { loadProjects } from '../api/projects.ts';
import { findRuns } from '../api/recent.ts';
import { ownRights } from '../api/rights.ts';
import { person, signOut } from '../api/session.ts';
import { sweepsPage } from '../api/sweeps.ts';
import { setTheme } from '../theme/theme.ts';
import { leaveEdits } from '../ui/edits.ts';
import type { IconName } from '../ui/icon.tsx';
import { go, href, place } from '../ui/router.ts';

export interface Entry {
  id: string;
  name: string;
  about: string;
  icon: IconName;
  act: () => void;
}

const maxEntries = 12;

/** Return what the palette offers for a text: actions, what the page has, and what the service finds. */
export function usePaletteEntries(text: string): readonly Entry[] {
  const onPage = useMemo(pageActions, []);
  const [loaded, setLoaded] = useState<readonly Entry[]>([]);
  useEffect(() => {
    if (!ownRights().mayRead) return;
    let isGone = false;
    void loadEntries().then((entries) => {
      if (!isGone) setLoaded(entries);
    });
    return () => {
      isGone = true;
    };
  }, []);
  const runs = useFoundRuns(text);
  return useMemo(
    () => matching(text, [...actions(), ...onPage, ...loaded], runs),
    [text, onPage, loaded, runs],
  );
}

type FoundRuns = Awaited<ReturnType<typeof findRuns>>;

/** Search the runs by name, once the user pauses. */
function useFoundRuns(text: string): FoundRuns {
  const [runs, setRuns] = useState<FoundRuns>([]);
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
  return runs;
}

/** Return the entries that have all words of a text. Those that begin with the first word come first. */
function matching(text: string, entries: readonly Entry[], runs: FoundRuns): readonly Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const unique = new Map(entries.map((entry) => [entry.id, entry]));
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
  return all.sort((a, b) => starts(a) - starts(b)).slice(0, maxEntries);
}

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
    act('Sign out', 'out', () => leaveEdits(() => void signOut())),
  ];
}

/** Parts and buttons of the open page that change only what is shown, and the columns it can be sorted by. */
const pressed =
  'main :is(nav.tabs a, :is(.tool-row, .bar-row, .chart-controls) > .button:not(.danger), .filter-chips button, .view-row button, [role=columnheader] button, th[aria-sort] button)';
/** Choices of the open page that change what is shown. */
const choices = 'main :is(.tool-row, .chart-controls) select';

/** What a click on the open page does, or the choice of an option. */
const pageActions = (): Entry[] => [...pageButtons(), ...pageChoices()];

const pageChoices = (): Entry[] =>
  [...document.querySelectorAll<HTMLSelectElement>(choices)].flatMap((select) => {
    // The text of a label that is around a select has its options, too.
    const label = select.ariaLabel ?? select.labels[0]?.firstElementChild?.textContent ?? '';
    return [...select.options]
      .filter(({ selected }) => !selected)
      .map((option) => ({
        id: `page/${label}/${option.value}`,
        name: option.text,
        about: label,
        icon: 'bolt' as const,
        act: () => {
          select.value = option.value;
          select.dispatchEvent(new Event('change', { bubbles: true }));
        },
      }));
  });

function pageButtons(): Entry[] {
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
  const or = <T>(list: Promise<T[]>): Promise<T[]> => list.catch(() => []);
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
