import { expect, test } from 'vitest';
import { event as notify } from '../../../functions/events/notify.event.ts';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as read } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as update } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as listDeliveries } from '../../../functions/projects/hooks/list-deliveries.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { testService } from '../../support/service.ts';
import { usualHook } from '../hooks/usual-hook.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const service = await testService();
const as = await service.user('developer');
const project_id = await newProject(service, as);
const path = { project_id };

async function call(endpoint: AnyEndpoint, at: object, body?: object) {
  const answer = await service.call(endpoint, {
    path: { ...at },
    as,
    ...(body !== undefined && json(body)),
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

/** Records an experiment with rules; returns functions that log values of its loss and show it. */
async function run(rules: object[]) {
  const { experiment_id } = await call(create, path, { rules });
  const at = { project_id, experiment_id };
  let step = 0;
  return {
    log(...values: (number | string)[]) {
      const metrics = values.map((value) => {
        step += 1;
        return { name: 'loss', value, step };
      });
      return call(logMetrics, at, { metrics });
    },
    end: (status: string) => call(update, at, { status }),
    shown: () => call(read, at),
  };
}

test('a rule counts the points of several requests, and cancels the run that its client records', async () => {
  const stalled = { 'no improvement': { metric: 'loss', for: '3 evaluations' }, do: 'stop' };
  const { log, end, shown } = await run([stalled]);

  await log(1, 0.5, 0.6);
  await log(0.7);
  const before = await shown();
  await log(0.8, 0.9);
  const stopped = await shown();
  await end('SUCCEEDED');

  expect(before).toMatchObject({ status: 'RUNNING', rules: [{ met: null }] });
  expect(stopped).toMatchObject({
    status: 'CANCELLED',
    status_reason:
      'Stopped by the rule "no improvement: loss for 3 evaluations": loss has not improved for 3 evaluations. Its best value is 0.5.',
  });
  expect(await shown()).toMatchObject({ status: 'CANCELLED', status_reason: stopped.status_reason });
});

test('a hook hears by itself of a run that a rule stopped, and not of one that its user cancelled', async () => {
  const told = await usualHook({ ...service, developer: as }, project_id);
  const { log } = await run([{ nan: 'loss', do: 'stop' }]);
  const cancelled = await run([]);

  await log('NaN');
  await cancelled.end('CANCELLED');

  expect(await told()).toEqual(['experiment.stopped']);
});

test('a point that a client repeats counts once', async () => {
  const { shown, log } = await run([
    { above: { metric: 'loss', value: 1, for: '2 evaluations' }, do: 'stop' },
  ]);
  await log(5);
  const { experiment_id, metrics } = await shown();
  const again = { metrics: [{ name: 'loss', value: 5, step: 1, time: metrics.loss.time }] };

  await call(logMetrics, { project_id, experiment_id }, again);
  await call(logMetrics, { project_id, experiment_id }, again);

  expect((await shown()).status).toBe('RUNNING');
});

test('a rule of the project tells its hooks once, and one without a metric is named at the end', async () => {
  const url = 'https://hooks.invalid/x';
  await call(putHook, { ...path, name: 'chat' }, { url, format: 'slack', events: ['metric.rule'] });
  await call(updateProject, path, {
    rules: [
      { nan: 'loss', do: 'notify' },
      { nan: 'accuracy', do: 'stop' },
    ],
  });
  const { log, end, shown } = await run([]);

  await log(1, 'NaN');
  await log('NaN');
  await end('SUCCEEDED');
  await taskHandler(notify, service.environment)({});
  const deliveries = await call(listDeliveries, { ...path, name: 'chat' });

  expect(await shown()).toMatchObject({
    status: 'SUCCEEDED',
    rules: [{ of: 'project', met: { reason: 'loss was NaN at step 2.' } }, { met: null }],
    warnings: ['The rule "nan: accuracy" was never judged, because the run reported no metric accuracy.'],
  });
  expect(deliveries).toMatchObject([{ type: 'metric.rule' }]);
});
