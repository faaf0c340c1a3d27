import type { Page } from 'playwright-core';

/**
 * CPU time of each task of a page's main thread during `act`, in milliseconds. What other programs take does not count,
 * as it would in the `longtask` entries of the page itself.
 */
export async function tasksOf(page: Page, act: () => Promise<void>): Promise<number[]> {
  const events = await eventsOf(page, 'toplevel', act);
  return events.filter(({ name }) => name.endsWith('RunTask')).map(({ tdur = 0 }) => tdur / 1000);
}

/** Number of elements whose styles the browser computed anew during `act`. It is the same on every machine. */
export async function styledDuring(page: Page, act: () => Promise<void>): Promise<number> {
  const events = await eventsOf(page, 'devtools.timeline', act);
  return events
    .filter(({ name }) => name === 'UpdateLayoutTree')
    .reduce((sum, { args }) => sum + (args?.elementCount ?? 0), 0);
}

/** Events of a page's main thread during `act`. */
async function eventsOf(page: Page, category: string, act: () => Promise<void>): Promise<TraceEvent[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('tasks can only be measured in a browser of its own');
  await browser.startTracing(page, { categories: [category, '__metadata'] });
  try {
    await act();
  } catch (error) {
    await browser.stopTracing();
    throw error;
  }
  const trace: { traceEvents: TraceEvent[] } = JSON.parse(String(await browser.stopTracing()));
  const mains = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(placeOf),
  );
  return trace.traceEvents.filter((event) => mains.has(placeOf(event)));
}

/** An event of Chromium's trace. `tdur` is CPU time, in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args?: { name?: string; elementCount?: number };
}

const placeOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;
