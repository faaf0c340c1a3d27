import { configurations, type World } from './world.ts';

/** One request of the proof. */
export interface Tried {
  operation: string;
  what: string;
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** Requests that are made hard for what their operation does, at the limits of its input. */
export function worstRequests(world: World): Tried[] {
  const { many, wide } = world;
  return [
    ...searches('listExperiments', `/projects/${many}/experiments`, 'many'),
    ...searches('listExperiments', `/projects/${wide}/experiments`, 'wide'),
    ...searches('searchExperiments', '/experiments', 'all'),
    ...mlflowRequests(world),
    ...ofExperiments(world),
    ...ofConfigurations(world),
    ...ofSweeps(world),
    get('readProject', `/projects/${many}`, 'many'),
    get('readProject', `/projects/${wide}`, 'wide'),
    {
      ...get('listExperiments', `/projects/${wide}/experiments?limit=1000`, 'wide with a mask'),
      headers: { 'X-Fields': `{${Array.from({ length: 900 }, (_, at) => `a${at}`).join(',')}}` },
    },
    get('listExperiments', `/projects/${wide}/experiments?limit=1000`, 'wide'),
    get('listExperiments', `/projects/${many}/experiments?limit=1000`, 'many'),
  ];
}

const get = (operation: string, path: string, what: string): Tried => ({
  operation,
  what,
  method: 'GET',
  path,
});

const post = (operation: string, path: string, what: string, body: unknown, method = 'POST'): Tried => ({
  operation,
  what,
  method,
  path,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** Filters that no row meets, so that every row and every condition is looked at. */
const filters = (texts: string): Readonly<Record<string, string>> => ({
  'a LIKE of runs of one letter': `${texts} LIKE '%${'ab%'.repeat(300)}z'`,
  'a LIKE of any letters': `${texts} LIKE '%${'_'.repeat(600)}z%'`,
  'a LIKE of one long part': `${texts} LIKE '%${'ab'.repeat(400)}c%'`,
  'an ILIKE': `${texts} ILIKE '%${'AB'.repeat(400)}c%'`,
  conditions: Array.from({ length: 20 }, (_, at) => `params.text_${at % 20} LIKE '%b%'`).join(' AND '),
  alternatives: Array.from({ length: 20 }, (_, at) => `metrics.m${at} > ${at}`).join(' OR '),
  'a list': `name IN (${Array.from({ length: 100 }, (_, at) => `'n${at}'`).join(', ')})`,
});

function searches(operation: string, path: string, what: string): Tried[] {
  const texts = ['params.text_0', 'name', 'tags.text_0'];
  const orders = ['metrics.loss DESC', 'params.text_0, tags.text_0, name, metrics.loss', 'best', 'params.lr'];
  const ask = (query: Readonly<Record<string, string>>, more: string) =>
    get(operation, `${path}?${new URLSearchParams(query)}`, `${what}: ${more}`);
  return [
    ...texts.flatMap((text) =>
      Object.entries(filters(text)).map(([name, filter]) => ask({ filter }, `${name} of ${text}`)),
    ),
    ...orders.map((order_by) => ask({ order_by, limit: '1000' }, `order by ${order_by}`)),
    ask({ filter: "params.text_0 LIKE '%a%'", order_by: orders[1] ?? '', limit: '1000' }, 'both'),
    ask({ limit: '1000', fields: 'name,params,tags,metrics' }, 'fields'),
  ];
}

function mlflowRequests({ many, wide, wideRuns, long }: World): Tried[] {
  const call = (path: string, what: string, body: unknown) =>
    post('serveMlflow', `/mlflow/api/2.0/mlflow/${path}`, `${path}, ${what}`, body);
  const read = (path: string, query: Readonly<Record<string, string>>, what: string) =>
    get('serveMlflow', `/mlflow/api/2.0/mlflow/${path}?${new URLSearchParams(query)}`, `${path}, ${what}`);
  const run = (id: string) => `${wide}-${id}`;
  const orders = Array.from({ length: 10 }, (_, at) => `params.\`text_${at}\` ${at % 2 ? 'ASC' : 'DESC'}`);
  const metricOrders = ['loss', 'accuracy', 'val_loss', 'val_accuracy'].map((name) => `metrics.${name} DESC`);
  const some = wideRuns[0] ?? '';
  const list = (count: number, one: (at: number) => unknown) =>
    Array.from({ length: count }, (_, at) => one(at));
  return [
    ...[many, wide].flatMap((project) => {
      const name = project === many ? 'many' : 'wide';
      const search = (more: object, what: string) =>
        call('runs/search', `${name}: ${what}`, { experiment_ids: [project], max_results: 50_000, ...more });
      return [
        search({}, 'all'),
        search({ order_by: orders }, 'ten orders'),
        search({ order_by: metricOrders, max_results: 1000 }, 'metrics'),
        search({ filter: `params.text_0 LIKE '%${'_'.repeat(600)}z%'` }, 'LIKE'),
        search({ filter: `tags.\`mlflow.user\` ILIKE '%${'B_'.repeat(300)}z%'` }, 'ILIKE'),
        search({ filter: list(20, (at) => `params.text_${at} = 'x'`).join(' AND ') }, 'conditions'),
      ];
    }),
    read('metrics/get-history', { run_id: run(long), metric_key: 'loss', max_results: '25000' }, 'long'),
    read(
      'metrics/get-history-bulk-interval',
      { run_ids: run(long), metric_key: 'loss', max_results: '2500' },
      'long',
    ),
    call('runs/log-batch', '1,000 metrics', {
      run_id: run(some),
      metrics: list(1000, (at) => ({ key: `m${at}${'x'.repeat(200)}`, value: at, timestamp: 1, step: at })),
    }),
    call('runs/log-batch', 'one metric backwards', {
      run_id: run(long),
      metrics: list(1000, (at) => ({ key: 'loss', value: at, timestamp: 1, step: 1000 - at })),
    }),
    call('runs/log-batch', 'params and tags', {
      run_id: run(some),
      params: list(100, (at) => ({ key: `q${at}`, value: 'é'.repeat(900) })),
      tags: list(100, (at) => ({ key: `t${at}`, value: 'x'.repeat(900) })),
    }),
    call('runs/log-inputs', '1,000 data sets', {
      run_id: run(some),
      datasets: list(1000, (at) => ({
        tags: [],
        dataset: { name: `d${at}`, digest: String(at), source_type: 'local', source: 'x', schema: '{}' },
      })),
    }),
    call('experiments/search', 'filter', { max_results: 1000, filter: `name LIKE '%${'_'.repeat(900)}%'` }),
    call('logged-models/search', 'orders', {
      experiment_ids: [wide, many],
      order_by: list(10, (at) => ({ field_name: `metrics.m${at}` })),
    }),
    read(
      'registered-models/search',
      { filter: `name LIKE '%${'_'.repeat(900)}%'`, max_results: '1000' },
      'filter',
    ),
    read('model-versions/search', { filter: `name LIKE '%${'_'.repeat(900)}%'` }, 'filter'),
    read('artifacts/list', { run_id: run(some) }, 'all'),
  ];
}

function ofExperiments({ wide, wideRuns, long }: World): Tried[] {
  const experiment = `/projects/${wide}/experiments/${long}`;
  const [some = ''] = wideRuns;
  const svg = { Accept: 'image/svg+xml' };
  const names = Array.from({ length: 100 }, (_, at) => `validation/0/some_metric_with_a_long_name_${at}`);
  const named = (list: readonly string[]) => list.map((name) => `name=${encodeURIComponent(name)}`).join('&');
  const ids = wideRuns.slice(0, 50).join(',');
  return [
    { ...get('readExperimentMetrics', `${experiment}/metrics`, 'a chart of a long run'), headers: svg },
    {
      ...get('readExperimentMetrics', `/projects/${wide}/experiments/${some}/metrics`, 'a chart'),
      headers: svg,
    },
    get('readExperimentMetrics', `${experiment}/metrics?limit=10000`, 'a page'),
    get('readExperimentMetrics', `${experiment}/metrics?name=loss&points=10000`, 'points'),
    get('readExperimentMetrics', `${experiment}/metrics?step_from=1&step_to=9007199254740991`, 'a range'),
    get(
      'readExperimentMetrics',
      `/projects/${wide}/experiments/${some}/metrics?${named(names)}&points=10000`,
      '100 names',
    ),
    get('compareExperiments', `/projects/${wide}/compare?experiments=${ids}`, '50 wide runs'),
    {
      ...get(
        'compareExperiments',
        `/projects/${wide}/compare?experiments=${ids}`,
        '50 wide runs as Markdown',
      ),
      headers: { Accept: 'text/markdown' },
    },
    get('listMedia', `/projects/${wide}/media?experiments=${ids}`, '50 runs'),
    post('readArtifacts', `/projects/${wide}/artifacts/read`, '200 files', {
      artifacts: Array.from({ length: 200 }, (_, at) => ({
        experiment_id: wideRuns[at % 50],
        path: `${'a/'.repeat(400)}${at}`,
      })),
    }),
    post('logExperimentMetrics', `${experiment}/metrics`, 'backwards', {
      metrics: Array.from({ length: 1000 }, (_, at) => ({ name: 'loss', value: at, step: 1000 - at })),
    }),
    post('logExperimentMetrics', `/projects/${wide}/experiments/${long}/metrics`, 'names', {
      metrics: Array.from({ length: 450 }, (_, at) => ({
        name: `${at}${'x'.repeat(200)}`,
        value: at,
        step: at,
      })),
    }),
    post('logExperimentParams', `${experiment}/params`, 'many', {
      params: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, 'x'.repeat(80)])),
    }),
    post(
      'updateExperiment',
      experiment,
      'a note and tags',
      {
        note: '*['.repeat(5000),
        tags: Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`t${at}`, 'x'.repeat(1000)])),
      },
      'PATCH',
    ),
  ];
}

function ofConfigurations({ wide }: World): Tried[] {
  return Object.entries(configurations).flatMap(([name, text]) => [
    {
      operation: 'putConfig',
      what: name,
      method: 'PUT',
      path: `/projects/${wide}/configs/${name}`,
      headers: { 'Content-Type': 'application/octet-stream' },
      body: text,
    },
    ...['image/svg+xml', 'text/vnd.mermaid', 'application/json'].map((Accept) => ({
      ...get('readConfigGraph', `/projects/${wide}/configs/${name}/graph`, `${name} as ${Accept}`),
      headers: { Accept },
    })),
    get('readConfig', `/projects/${wide}/configs/${name}`, name),
    // It answers what it would ask for, but begins nothing.
    post('estimateSweep', `/projects/${wide}/sweeps/estimate`, name, {
      config: name,
      method: 'random',
      trials: 10_000,
      parameters: { [name.endsWith('keys') ? 'key_1' : 'a']: { min: 0, max: 1 } },
    }),
  ]);
}

function ofSweeps({ wide, sweep }: World): Tried[] {
  const estimate = (what: string, body: object) =>
    post('estimateSweep', `/projects/${wide}/sweeps/estimate`, what, { config: 'small.yaml', ...body });
  const list = <T>(count: number, one: (at: number) => T) =>
    Array.from({ length: count }, (_, at) => one(at));
  const named = (count: number, one: (at: number) => unknown) =>
    Object.fromEntries(list(count, (at) => [`p${at}`, one(at)]));
  return [
    estimate('a grid of 100 parameters', {
      method: 'grid',
      trials: 10_000,
      parameters: named(100, () => ({ values: list(20, String) })),
    }),
    estimate('a conditional grid', {
      method: 'grid',
      trials: 10_000,
      parameters: named(60, (at) => ({
        values: list(20, String),
        ...(at > 0 && { if: { [`p${at - 1}`]: list(10, String) } }),
      })),
    }),
    estimate('a star of conditions', {
      method: 'grid',
      trials: 10_000,
      parameters: named(60, (at) => ({
        values: list(20, String),
        ...(at > 0 && {
          if: Object.fromEntries(list(Math.min(at, 12), (by) => [`p${by}`, list(10, String)])),
        }),
      })),
    }),
    ...['random', 'sobol', 'tpe'].map((method) =>
      estimate(`${method} of 100 parameters`, {
        method,
        trials: 10_000,
        parameters: named(100, () => ({ min: 0, max: 1 })),
      }),
    ),
    estimate('10,000 start values', {
      method: 'random',
      trials: 10_000,
      parameters: named(2, () => ({ min: 0, max: 1 })),
      start: list(5000, () => ({ p0: 0.5 })),
    }),
    get('listTrials', `/projects/${wide}/sweeps/${sweep}/trials?order_by=value`, 'in order'),
    get('readSweep', `/projects/${wide}/sweeps/${sweep}`, 'all'),
  ];
}
