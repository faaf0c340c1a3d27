import { signal } from '@preact/signals';
import type { ExperimentPath } from '../api/experiments.ts';
import { poll, wake } from '../api/poller.ts';
import { experimentsById } from '../api/projects.ts';
import { isExpired, isWithheld, person, serviceUrl } from '../api/session.ts';
import { go, href } from '../ui/router.ts';
import { isFinal } from '../ui/states/status.tsx';
import { cut, numberText } from '../ui/text/format.ts';

/** Key in the browser's storage. Users of one browser watch their own experiments. */
const storeKey = (): string => `mps-watched ${serviceUrl} ${person.value?.user_id ?? ''}`;

/** Milliseconds between two requests for each project with watched experiments. */
const pause = 15_000;

/** Maximum number of watched experiments. The oldest are dropped. */
const maxWatched = 50;

const isPath = (value: unknown): value is ExperimentPath =>
  typeof value === 'object' && value !== null && 'project_id' in value && 'experiment_id' in value;

/** Read what this browser keeps, which other tabs change too. */
function kept(): readonly ExperimentPath[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storeKey()) ?? '[]');
    return Array.isArray(value) ? value.filter(isPath) : [];
  } catch {
    return [];
  }
}

/** Experiments whose end the browser notifies about, oldest first. */
export const watched = signal<readonly ExperimentPath[]>([]);

function keep(next: readonly ExperimentPath[]): void {
  watched.value = next.slice(-maxWatched);
  localStorage.setItem(storeKey(), JSON.stringify(watched.value));
  wake();
}

/** Whether pages of this address may ask for notifications. Browsers refuse them to pages without HTTPS. */
export const canNotify = (): boolean => 'Notification' in window && isSecureContext;

/**
 * Watch an experiment. Ask for the permission, so call it on a click only.
 * @returns false if the user or the browser refuses
 */
export async function watch({ project_id, experiment_id }: ExperimentPath): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false;
  keep([...withoutOf([experiment_id]), { project_id, experiment_id }]);
  return true;
}

/** Watch an experiment no longer. */
export const unwatch = (experiment_id: string): void => keep(withoutOf([experiment_id]));

const withoutOf = (ids: readonly string[]): readonly ExperimentPath[] =>
  kept().filter(({ experiment_id }) => !ids.includes(experiment_id));

/** Follow the watched experiments, also while the page is hidden. */
export function followWatched(): void {
  const read = () => {
    watched.value = kept();
    wake();
  };
  read();
  person.subscribe(read);
  window.addEventListener('storage', ({ key }) => {
    if (key === storeKey() || key === null) read();
  });
  poll({
    isHiddenToo: true,
    run: tellEnds,
    every: () =>
      isExpired.value || watched.value.length === 0 ? undefined : pause / watchedProjects().length,
  });
}

const watchedProjects = (): string[] => [...new Set(watched.value.map(({ project_id }) => project_id))];

let turn = 0;

/** Ask for the watched experiments of one project, the next one each time, and tell which have ended. */
async function tellEnds(): Promise<void> {
  const projects = watchedProjects();
  turn += 1;
  const project_id = projects[turn % projects.length];
  if (project_id === undefined) return;
  const ids = watched.value.filter((one) => one.project_id === project_id).map((one) => one.experiment_id);
  const rows = await rowsOf(project_id, ids);
  const live = new Set(rows.filter(({ status }) => !isFinal(status)).map((row) => row.experiment_id));
  // Another tab may have told it, or the user has changed their mind.
  const present = kept().map(({ experiment_id }) => experiment_id);
  const ended = ids.filter((id) => !live.has(id) && present.includes(id));
  if (ended.length === 0) return;
  keep(withoutOf(ended));
  if (!document.hidden) return;
  for (const row of rows) if (ended.includes(row.experiment_id)) show(project_id, row);
}

const fields = 'experiment_id,name,status,status_reason,best';

type EndedRow = Pick<
  Awaited<ReturnType<typeof experimentsById>>['rows'][number],
  'experiment_id' | 'name' | 'status' | 'status_reason' | 'best'
>;

/** Deleted experiments are missing, and all of a project that the user may no longer see. */
async function rowsOf(project_id: string, ids: readonly string[]): Promise<readonly EndedRow[]> {
  try {
    return (await experimentsById(project_id, ids, fields)).rows;
  } catch (error) {
    if (isWithheld(error)) return [];
    throw error;
  }
}

const verbs: Readonly<Record<string, string>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'was cancelled',
};

/** Show the end of an experiment. A click leads to its page. */
function show(project_id: string, { experiment_id, name, status, status_reason, best }: EndedRow): void {
  const value = best === null ? '' : `${best.metric}: ${numberText(best.value)}`;
  const shown = new Notification(`${name} ${verbs[status] ?? status}`, {
    body: cut([status_reason ?? '', value].filter(Boolean).join('\n'), 300),
    tag: experiment_id,
  });
  shown.onclick = () => {
    window.focus();
    go(href(['projects', project_id, 'experiments', experiment_id]));
    shown.close();
  };
}
