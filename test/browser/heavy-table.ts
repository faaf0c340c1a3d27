import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';

/** What the page of a heavy project has fetched: bytes of JSON, and as they are sent. */
export interface Fetched {
  requests: number;
  characters: number;
  bytes: number;
}

const columns = 100;
const names = (letter: string) => Array.from({ length: columns }, (_, at) => `${letter}${at}`);

/** Params, tags and metrics of a run, of which no other has the same numbers. */
const values: Readonly<Record<string, { names: string[]; of(index: number, name: string): unknown }>> = {
  params: {
    names: names('p'),
    of: (index, name) => String((index * columns + Number(name.slice(1))) / 7919),
  },
  tags: { names: ['team'], of: (index) => (index % 2 === 0 ? 'vision' : 'speech') },
  metrics: {
    names: names('m'),
    of(index, name) {
      const last = Math.sin(index * columns + Number(name.slice(1)));
      const time = new Date(1.79e12 - index * 50_000).toISOString();
      return {
        last,
        min: last - Math.abs(last / 3),
        max: last + Math.abs(last / 7),
        step: 1_000,
        time,
        count: 1_001,
      };
    },
  },
};

const attributesOf = (project_id: string, index: number): Record<string, unknown> => ({
  experiment_id: `01K${String(100_000_000 - index).padStart(23, '0')}`,
  project_id,
  user: 'admin',
  name: `efficientnet_b0-sgd-${index}`,
  kind: 'logged',
  status: 'SUCCEEDED',
  status_reason: null,
  config_id: null,
  created_at: new Date(1.79e12 - index * 60_000).toISOString(),
  started_at: new Date(1.79e12 - index * 60_000).toISOString(),
  stopped_at: new Date(1.79e12 - index * 50_000).toISOString(),
  duration: 3600 + index / 7,
  cost: null,
  best: null,
  sweep_id: null,
  trial: null,
  outcome: null,
  sparkline: {
    metric: 'm0',
    values: Array.from({ length: 25 }, (_, at) => Number(Math.abs(Math.sin(index * 25 + at)).toFixed(3))),
  },
  warnings: [],
});

/** Return the fields of a run, as the service does: a whole group of values, or single ones. */
function runOf(project_id: string, index: number, fields: readonly string[]): Record<string, unknown> {
  const attributes = attributesOf(project_id, index);
  const shown: Record<string, unknown> = {};
  for (const field of fields) {
    const [group = '', name] = field.split('.');
    const named = values[group];
    if (named === undefined) shown[field] = attributes[field];
    else
      shown[group] = {
        ...(shown[group] as object),
        ...Object.fromEntries(
          (name === undefined ? named.names : [name]).map((one) => [one, named.of(index, one)]),
        ),
      };
  }
  return shown;
}

/** Answer lists of a project as the service does, as if it had so many runs of 200 columns. */
export async function pretendHeavy(page: Page, project_id: string, count: number): Promise<Fetched> {
  const fetched = { requests: 0, characters: 0, bytes: 0 };
  await page.route(new RegExp(`/projects/${project_id}$`), async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), experiments: count } });
  });
  await page.route(new RegExp(`/projects/${project_id}/experiments/live`), (route) =>
    route.fulfill({
      json: { experiments: null, more: true, points: [], others: [], gone: [], after: 'x', retry_after: 60 },
    }),
  );
  await page.route(new RegExp(`/projects/${project_id}/experiments\\?`), async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [limit, after] = [Number(query.get('limit')), Number(query.get('cursor') ?? 0)];
    const ids = query.get('filter')?.match(/01K\d{23}/g);
    const indexes =
      ids?.map((id) => 100_000_000 - Number(id.slice(3))) ??
      Array.from({ length: Math.min(limit, count - after) }, (_, at) => after + at);
    const fields = (query.get('fields') ?? '').split(',');
    const rows = indexes.map((index) => runOf(project_id, index, fields));
    const body = JSON.stringify(rows);
    fetched.requests += 1;
    fetched.characters += body.length;
    fetched.bytes += gzipSync(body, { level: 1 }).length;
    const end = after + limit;
    query.set('cursor', String(end));
    const headers = ids === undefined && end < count ? { Link: `<?${query}>; rel="next"` } : {};
    await route.fulfill({ body, contentType: 'application/json', headers });
  });
  return fetched;
}
