import type { Page } from 'playwright-core';

/**
 * CPU time of each task of a page's main thread during `act`, in milliseconds. What other programs take does not count,
 * as it would in the `longtask` entries of the page itself.
 */
export async function tasksOf(page: Page, act: () => Promise<void>): Promise<number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('tasks can only be measured in a browser of its own');
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
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
  return trace.traceEvents
    .filter((event) => mains.has(placeOf(event)) && event.name.endsWith('RunTask'))
    .map(({ tdur = 0 }) => tdur / 1000);
}

/** An event of Chromium's trace. `tdur` is CPU time, in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args?: { name?: string };
}

const placeOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;
