import { signal } from '@preact/signals';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../../shared/client/unreachable-error.ts';
import { isExpired } from './session.ts';

/** Something that is looked at again and again. */
export interface Polled {
  /** Look once. */
  run(): Promise<void>;
  /** Milliseconds until the next look; undefined for not again. */
  every(): number | undefined;
}

interface Entry {
  polled: Polled;
  due: number;
}

/** Since when the service cannot be reached; undefined while it can. */
export const awaySince = signal<Date | undefined>(undefined);

const entries = new Set<Entry>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isRunning = false;
/** Least time between two looks, whatever asks for them: at most two requests a second in all. */
const minMilliseconds = 500;
const awayMilliseconds = 3_000;

const isAway = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);

/** Note whether a call has reached the service. */
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
  if (document.hidden || isRunning || isExpired.value) return;
  const due = Math.min(...[...entries].map((entry) => entry.due));
  if (due === Number.POSITIVE_INFINITY) return;
  timer = setTimeout(() => void tick(), Math.max(minMilliseconds, due - Date.now()));
}

/** One look at what is due first; the others have their turn after it. */
async function tick(): Promise<void> {
  const [entry] = [...entries].sort((a, b) => a.due - b.due);
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
    const wait = awaySince.value === undefined ? every : awayMilliseconds;
    entry.due = every === undefined || wait === undefined ? Number.POSITIVE_INFINITY : Date.now() + wait;
    schedule();
  }
}

/** Look at something from time to time while this page is visible. Returns what ends that. */
export function poll(polled: Polled): () => void {
  const entry = { polled, due: Date.now() + (polled.every() ?? Number.POSITIVE_INFINITY) };
  entries.add(entry);
  schedule();
  return () => {
    entries.delete(entry);
    schedule();
  };
}

/** Look again at what slept, where its state has become one that is looked at. */
export const wake = schedule;

/** Ask all of them again when the page is seen again, or somebody has signed in. */
export function pollNow(): void {
  for (const entry of entries) if (entry.polled.every() !== undefined) entry.due = Date.now();
  schedule();
}

document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : pollNow()));
window.addEventListener('online', pollNow);
