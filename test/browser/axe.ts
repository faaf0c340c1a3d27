import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe-core finds on a page by all of its rules, in both themes or in one, as texts. */
export async function axeFindings(
  page: Page,
  schemes: readonly ('light' | 'dark')[] = ['dark', 'light'],
): Promise<string[]> {
  // The policy of the page takes no scripts of others; the debugger's may run.
  await page.evaluate(source);
  const texts: string[] = [];
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await transitionsEnded(page);
    const findings = (await page.evaluate(
      `axe.run(document).then(({ violations }) =>
        violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) })))`,
    )) as Finding[];
    for (const { id, nodes } of findings)
      for (const { html, failureSummary } of nodes.slice(0, 3))
        texts.push(`${colorScheme}: ${id}: ${html.slice(0, 160)} (${failureSummary.slice(0, 200)})`);
  }
  return texts;
}

/** Until every colour is that of the theme: pages with motion pass from one to the other. */
async function transitionsEnded(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let isMoving = true; isMoving; ) {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition);
      await Promise.allSettled(transitions.map((one) => one.finished));
      isMoving = transitions.length > 0;
    }
  });
}
