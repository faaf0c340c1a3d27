import type { Page } from 'playwright-core';
import { median } from './figure.ts';

export interface Scrolling {
  /** Frames a second, in the median. */
  rate: number;
  /** Milliseconds of the main thread's own CPU time for a frame: script, style, layout and paint. */
  cpu: number;
  /** Those of them in scripts, and in style and layout. */
  script: number;
  layout: number;
}

const frames = 240;
const pixels = 60;

/** Read the CPU time of a page's main thread, in milliseconds by name. What other programs take does not count. */
export async function mainThread(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  return {
    async read(): Promise<ReadonlyMap<string, number>> {
      const { metrics } = await devtools.send('Performance.getMetrics');
      return new Map(metrics.map(({ name, value }) => [name, value * 1000]));
    },
    close: () => devtools.detach(),
  };
}

/** Scroll an element down by so many pixels a frame. */
export async function scroll(page: Page, selector: string): Promise<Scrolling> {
  const { read, close } = await mainThread(page);
  const before = await read();
  const rates: number[] = await page.evaluate(
    async ({ selector, frames, pixels }) => {
      const scroller = document.querySelector(selector);
      const found: number[] = [];
      let last = performance.now();
      for (let frame = 0; frame < frames; frame += 1) {
        scroller?.scrollBy(0, pixels);
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        found.push(1000 / (now - last));
        last = now;
      }
      return found;
    },
    { selector, frames, pixels },
  );
  const after = await read();
  await close();
  const spent = (name: string) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / frames;
  return {
    rate: median(rates),
    cpu: spent('TaskDuration'),
    script: spent('ScriptDuration'),
    layout: spent('LayoutDuration') + spent('RecalcStyleDuration'),
  };
}

/** Bytes of the heap after a garbage collection. */
export async function heapBytes(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  await devtools.detach();
  return usedSize;
}
