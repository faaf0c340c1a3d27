import { signal } from '@preact/signals';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../../shared/client/unreachable-error.ts';
import { isExpired } from './session.ts';

/** A task that runs repeatedly. */
export interface Polled {
  run(): Promise<void>;
  /** Milliseconds until the next run; undefined to stop. */
  every(): number | undefined;
  /** Whether it also runs while the page is hidden. */
  isHiddenToo?: boolean;
}

interface Entry {
  polled: Polled;
  due: number;
}

/** Time at which the service became unreachable; undefined while it is reachable. */
export const awaySince = signal<Date | undefined>(undefined);

const entries = new Set<Entry>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isRunning = false;
/** Minimum milliseconds between two runs of any tasks. It limits the page to two runs a second. */
const minMilliseconds = 500;
const awayMilliseconds = 3_000;

const isAway = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);

/** Record whether a call reached the service. */
export function noteReach(error?: unknown): void {
  if (error === undefined) awaySince.value = undefined;
  else if (isAway(error)) awaySince.value ??= new Date();
}

function schedule(): void {
  clearTimeout(timer);
  for (const entry of entries) {
    if (entry.due !== Number.POSITIVE_INFINITY) continue;
    const every = entry.polled.every();
    if (every !== undefined) entry.due = Date.now() + every;
  }
  if (isRunning || isExpired.value) return;
  const due = Math.min(...running().map((entry) => entry.due));
  if (due === Number.POSITIVE_INFINITY) return;
  timer = setTimeout(() => void tick(), Math.max(minMilliseconds, due - Date.now()));
}

/** Tasks that run now: while the page is hidden, few do. */
const running = (): Entry[] =>
  [...entries].filter(({ polled }) => !document.hidden || polled.isHiddenToo === true);

/** Run the most overdue task. The others follow later. */
async function tick(): Promise<void> {
  const [entry] = running().sort((a, b) => a.due - b.due);
  if (entry === undefined) return;
  if (entry.polled.every() === undefined) {
    entry.due = Number.POSITIVE_INFINITY;
    schedule();
    return;
  }
  isRunning = true;
  try {
    await entry.polled.run();
    noteReach();
  } catch (error) {
    noteReach(error);
  } finally {
    isRunning = false;
    const every = entry.polled.every();
    const wait = awaySince.value === undefined || document.hidden ? every : awayMilliseconds;
    entry.due = every === undefined || wait === undefined ? Number.POSITIVE_INFINITY : Date.now() + wait;
    schedule();
  }
}

/** Run a task repeatedly while this page is visible, or always if it says so. Return a function that stops it. */
export function poll(polled: Polled): () => void {
  const entry = { polled, due: Date.now() + (polled.every() ?? Number.POSITIVE_INFINITY) };
  entries.add(entry);
  schedule();
  return () => {
    entries.delete(entry);
    schedule();
  };
}

/** Reschedule all tasks, after a task's state has changed. */
export const wake = schedule;

/** Run all tasks now, when the page becomes visible again or the user has signed in. */
export function pollNow(): void {
  for (const entry of entries) if (entry.polled.every() !== undefined) entry.due = Date.now();
  schedule();
}

document.addEventListener('visibilitychange', () => (document.hidden ? schedule() : pollNow()));
window.addEventListener('online', pollNow);
