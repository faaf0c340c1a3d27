import type { Page } from 'playwright-core';
import type { endpoint as listTrials } from '../../../functions/projects/sweeps/list-trials.endpoint.ts';
import type { endpoint as readSweep } from '../../../functions/projects/sweeps/read-sweep.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { visit } from '../console-service.ts';
import { recordSweep } from '../record-sweep.ts';
import type { Figure } from './figure.ts';

/** The page of a sweep of so many trials. A few are real; the browser gets the others in the place of the service's answers. */
export async function measureSweep(
  page: Page,
  url: string,
  client: Client,
  count: number,
): Promise<Figure[]> {
  const path = await recordSweep(url, client, {
    name: 'Sweep of the bench',
    args: [
      ...['-S', 'lr=1e-4..1e-1:log', '-S', 'depth=1..6', '-S', 'optimizer=sgd,adam', '--trials', '2'],
      ...['--metric', 'val_loss', '--goal', 'minimize'],
    ],
  });
  const at = '/projects/{project_id}/sweeps/{sweep_id}' as const;
  const sweep = await client.call<typeof readSweep>(`GET ${at}`, { path });
  const [row] = await client.call<typeof listTrials>(`GET ${at}/trials`, { path, query: { limit: 1 } });
  const rows = Array.from({ length: count }, (_, trial) => {
    const [lr, depth] = [10 ** (-1 - ((trial * 7) % 300) / 100), 1 + (trial % 6)];
    const value = (Math.log10(lr) + 2) ** 2 + depth / 100;
    const params = { lr, depth, optimizer: trial % 2 === 0 ? 'sgd' : 'adam' };
    return { ...row, trial, value, params, experiment_id: String(trial).padStart(26, '0') };
  });
  const place = `/projects/${path.project_id}/sweeps/${path.sweep_id}`;
  const isOf = (suffix: string) => (asked: URL) => asked.pathname.endsWith(`${place}${suffix}`);
  await page.route(isOf(''), (route) =>
    route.fulfill({
      json: { ...sweep, trials: count, begun: count, counts: { ...sweep.counts, complete: count } },
    }),
  );
  await page.route(isOf('/trials'), (route) => {
    const asked = new URL(route.request().url());
    const [from, limit] = [asked.searchParams.get('after'), asked.searchParams.get('limit')].map(Number);
    const end = (from ?? 0) + (limit ?? 0);
    const next = `${asked.pathname}?limit=${limit}&after=${end}`;
    const headers = end < count ? { Link: `<${next}>; rel="next"` } : {};
    return route.fulfill({ json: rows.slice(from, end), headers });
  });

  await visit(page, `projects/${path.project_id}/sweeps`);
  const click = performance.now();
  await page.locator(`a[href="#${place}"]`).first().click();
  const table = page.getByRole('table', { name: 'Trials' });
  await table.getByRole('row').nth(1).waitFor();
  const first = (performance.now() - click) / 1000;
  await page
    .getByText(`${count.toLocaleString('en')} trials`)
    .first()
    .waitFor();
  const all = (performance.now() - click) / 1000;
  await page
    .getByRole('region', { name: 'Importance of the parameters' })
    .getByRole('columnheader', { name: 'Importance' })
    .waitFor();
  const importance = (performance.now() - click) / 1000;
  return [
    { what: `first trials of a sweep of ${count} after the click`, value: first, unit: 's', bound: 1 },
    { what: 'all of them', value: all, unit: 's' },
    { what: 'with the importance of its parameters', value: importance, unit: 's' },
  ];
}
