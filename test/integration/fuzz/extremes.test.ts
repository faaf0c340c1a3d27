import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as serveMlflow } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { documentedOperations, type RequestField, withField } from '../../support/documented-operations.ts';
import { sampled } from '../../support/samples.ts';
import type { Call } from '../../support/service.ts';
import { operations } from '../access/operations.ts';
import { type PeopledService, peopledService } from '../access/people.ts';
import { json } from '../users/body.ts';

/** As they stand in JSON or in a query: at the ends of doubles, of whole numbers, of milliseconds, and no numbers. */
const numbers = [
  ...['1e-300', '5e-324', '1e308', '-1e308', '1e999', '-0', '0', '-1', '0.1', '9007199254740993'],
  ...['9223372036854775808', '253402300799999', '253402300800000', '8640000000000001', '-62167219200000'],
  ...['"NaN"', '"Infinity"', '"-Infinity"', '"0x10"', '""', 'null', 'true', '[1e999]'],
];
const times = [
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
  '-000001-01-01T00:00:00Z',
]
  .map((time) => JSON.stringify(time))
  .concat(numbers);

/** Of a query, whose whole numbers and decimals have one parser each. */
const ofQuery = ['1e-300', '1e308', '1e999', '-0', '9007199254740993', '253402300800000', 'NaN', ''];

const valuesOf = (field: RequestField): readonly string[] =>
  field.in === 'query' ? ofQuery : isTime(field) ? times : numbers;

const endpoints = new Map(
  (await loadEndpoints(join(import.meta.dirname, '../../../functions'))).map(({ endpoint }) => [
    endpoint.name,
    endpoint,
  ]),
);

const isNumber = ({ schema: { type } }: RequestField) =>
  [type].flat().some((one) => one === 'number' || one === 'integer');
const isTime = ({ schema: { format }, path }: RequestField) =>
  format === 'date-time' || /(?:_at|time|timestamp)$/.test(String(path.at(-1)));

/** The fields with numbers or times of each operation that an endpoint of its own answers. */
const tried = documentedOperations().flatMap(({ name, fields }) => {
  const endpoint = endpoints.get(name);
  const found = fields.filter((field) => isNumber(field) || isTime(field));
  return endpoint === undefined || found.length === 0 ? [] : [{ endpoint, fields: found }];
});

/** A stand-in in JSON for a text that `JSON.stringify` would change. */
const mark = '<number>';

let service: PeopledService;
beforeAll(async () => {
  service = await peopledService();
});

const of = (name: string): AnyEndpoint => {
  const endpoint = endpoints.get(name);
  if (endpoint === undefined) throw new Error(`no endpoint ${name}`);
  return endpoint;
};

/** A good request of an admin to what is their own. */
async function goodCall({ name }: AnyEndpoint): Promise<Call> {
  const { admin } = service.people;
  const call = (await operations[name]?.call?.({ service, caller: admin, target: admin })) ?? {};
  const path = {
    project_id: admin.project_id,
    experiment_id: admin.experiment_id,
    user_id: admin.user.user_id,
    username: admin.user.username,
    config_id: 'train.yaml',
    name: 'HF_TOKEN',
    dataset: 'digits',
    model_name: admin.model_name,
    strategy_id: admin.strategy_id,
    path: 'model.bin',
    ...call.path,
  };
  return { as: admin, ...call, path };
}

function callWith(call: Call, field: RequestField, value: string): Call {
  const query = typeof call.query === 'object' ? call.query : {};
  if (field.in !== 'body') return { ...call, query: { ...query, [String(field.path[0])]: value } };
  const body: unknown = typeof call.body === 'string' && call.body !== '' ? JSON.parse(call.body) : {};
  const sent = withField({ query, headers: {}, body }, field, mark).body;
  return {
    ...call,
    body: JSON.stringify(sent).replace(JSON.stringify(mark), value),
    headers: { ...call.headers, 'Content-Type': 'application/json' },
  };
}

describe('extreme numbers and times', () => {
  test('are answered without a fault of the service in each field of each operation', async () => {
    expect(tried.length).toBeGreaterThan(40);
    const faults: string[] = [];
    for (const { endpoint, fields } of sampled(tried, 8)) {
      const good = await goodCall(endpoint);
      for (const field of fields)
        for (const value of valuesOf(field)) {
          const { status, text } = await service.call(endpoint, callWith(good, field, value));
          if (status >= 500)
            faults.push(`${endpoint.name} ${field.path.join('.')} = ${value}: ${status} ${text}`);
        }
    }
    expect(faults).toEqual([]);
  });

  test('are kept where a text of JSON has them', async () => {
    const { admin } = service.people;
    const path = { project_id: admin.project_id };
    const kept: string[] = [];
    for (const value of ['1e-300', '5e-324', '1e+308', '-1e+308', '9007199254740991']) {
      const rules = `[{"above":{"metric":"loss","value":${value}},"do":"stop"}]`;
      const query = { rules, overrides: `{"a":${value}}` };
      const own = { ...path, experiment_id: admin.experiment_id };
      const run = await service.call(of('rerunExperiment'), { as: admin, path: own, query });
      expect(run.status, run.text).toBe(200);
      const read = await service.call(of('readExperiment'), {
        as: admin,
        path: { ...path, experiment_id: run.json.experiment_id },
      });
      kept.push(String(read.json.overrides.a));
      const asked = { as: admin, path, ...json({ rules: JSON.parse(rules) }) };
      const changed = await service.call(of('updateProject'), asked);
      expect(changed.status, changed.text).toBe(200);
      const parameters = { a: { values: [Number(value), 1] } };
      const sweep = { config: 'train.yaml', method: 'grid', parallel: 2, parameters };
      const begun = await service.call(of('createSweep'), { as: admin, path, ...json(sweep) });
      expect(begun.status, begun.text).toBe(200);
    }
    expect(kept).toEqual(['1e-300', '5e-324', '1e+308', '-1e+308', '9007199254740991']);
  });

  test('that were accepted leave everything readable', async () => {
    const faults: string[] = [];
    for (const endpoint of endpoints.values()) {
      if (endpoint.method !== 'GET' || !/_id}|model_name/.test(endpoint.path)) continue;
      const { status, text } = await service.call(endpoint, await goodCall(endpoint));
      if (status >= 500) faults.push(`${endpoint.name}: ${status} ${text}`);
    }
    expect(faults).toEqual([]);
  });
});

describe("extreme numbers and times in MLflow's API", () => {
  const { admin } = { admin: () => service.people.admin };
  const call = (path: string, body: string) =>
    service.call(serveMlflow, {
      as: admin(),
      method: 'POST',
      path: { mlflow_path: `api/2.0/mlflow/${path}` },
      body,
      headers: { 'Content-Type': 'application/json' },
    });

  test('are answered without a fault of the service, and leave runs readable', async () => {
    const { project_id } = admin();
    const created = await call('runs/create', JSON.stringify({ experiment_id: project_id }));
    const { run_id } = created.json.run.info;
    const point = { key: 'loss', value: 1, timestamp: 1, step: 1 };
    const requests: [path: string, body: object, fields: string[][]][] = [
      ['runs/create', { experiment_id: project_id, start_time: 1 }, [['start_time']]],
      ['runs/update', { run_id, end_time: 1, status: 'RUNNING' }, [['end_time']]],
      ['runs/log-metric', { run_id, ...point }, [['value'], ['timestamp'], ['step']]],
      ['runs/search', { experiment_ids: [project_id], max_results: 1 }, [['max_results']]],
      ['experiments/search', { max_results: 1 }, [['max_results']]],
      ['logged-models/search', { experiment_ids: [project_id], max_results: 1 }, [['max_results']]],
      ['runs/outputs', { run_id, models: [{ model_id: 'm', step: 1 }] }, [['models', '0', 'step']]],
    ];
    const faults: string[] = [];
    for (const [path, body, fields] of requests)
      for (const field of fields)
        for (const value of times) {
          const place = field.map((name) => (/^\d+$/.test(name) ? Number(name) : name));
          const sent = withField(
            { query: {}, headers: {}, body },
            { in: 'body', path: place, schema: {} },
            mark,
          );
          const { status, text } = await call(
            path,
            JSON.stringify(sent.body).replace(JSON.stringify(mark), value),
          );
          if (status >= 500) faults.push(`${path} ${field.join('.')} = ${value}: ${status} ${text}`);
        }
    for (const [path, body] of [
      ['runs/search', { experiment_ids: [project_id], order_by: ['metrics.loss'] }],
      ['experiments/search', { max_results: 10 }],
    ] as const) {
      const { status, text } = await call(path, JSON.stringify(body));
      if (status >= 500) faults.push(`${path}: ${status} ${text}`);
    }
    for (const name of ['listExperiments', 'readExperimentMetrics', 'readProject']) {
      const endpoint = of(name);
      const good = await goodCall(endpoint);
      const path = { ...good.path, experiment_id: run_id.split('-')[1] };
      const { status, text } = await service.call(endpoint, { ...good, path });
      if (status >= 500) faults.push(`${name}: ${status} ${text}`);
    }
    expect(faults).toEqual([]);
  });
});
