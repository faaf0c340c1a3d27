import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as listTrials } from '../../../functions/projects/sweeps/list-trials.endpoint.ts';
import { endpoint as readSweep } from '../../../functions/projects/sweeps/read-sweep.endpoint.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { Answer } from '../../support/service.ts';
import type { TrainingService } from '../../support/training.ts';
import { json } from '../users/body.ts';

/**
 * Reports `(lr - 0.1)² + depth / 100 + seed / 1000` at each of its steps, slowly or failing where the configuration says
 * so. A slow one with a bad value waits, so that it is still running when an early stop reaches it on a busy machine.
 */
const program = `
import json, os, time
config = dict(line.strip().split(': ') for line in open(os.environ['CONFIG_PATH']) if ': ' in line)
lr, depth = float(config['lr']), float(config['depth'])
loss = (lr - 0.1) ** 2 + depth / 100 + int(os.environ.get('SEED', config['seed'])) / 1000
if config['fails'] == 'true': raise ValueError('no such depth')
for step in range(1, int(config['steps']) + 1):
    with open(os.environ['METRICS_FILE'], 'a') as metrics:
        metrics.write(json.dumps({config['metric']: loss, 'step': step}) + '\\n')
    if config['slow'] == 'true': time.sleep(60 if loss > 0.5 and step > 2 else 0.4)
`;

const config = 'lr: 1\ndepth: 1\nsteps: 1\nmetric: val_loss\nfails: false\nslow: false\nseed: 0\n';

/** A project whose training is a few lines of Python, with requests for its sweeps. */
export async function sweptProject(service: TrainingService) {
  const project_id = await service.project({ command: 'python3 train.py', files: { 'train.py': program } });
  const as = service.developer;
  await service.call(putConfig, {
    path: { project_id, config_id: 'train.yaml' },
    body: config,
    headers: { 'Content-Type': 'application/yaml' },
    as,
  });

  const call = (endpoint: AnyEndpoint, sweep_id = '', more: object = {}) =>
    service.call(endpoint, { path: { project_id, ...(sweep_id !== '' && { sweep_id }) }, as, ...more });

  async function must(answer: Promise<Answer>): Promise<Answer['json']> {
    const { status, text, json } = await answer;
    expect(status, text).toBe(200);
    return json;
  }

  const read = (sweep_id: string) => must(call(readSweep, sweep_id));

  /** Waits until the sweep satisfies the condition. */
  async function until(
    sweep_id: string,
    condition: (sweep: Answer['json']) => boolean,
  ): Promise<Answer['json']> {
    for (;;) {
      const sweep = await read(sweep_id);
      if (condition(sweep)) return sweep;
      await sleep(100);
    }
  }

  return {
    project_id,
    call,
    must,
    read,
    until,
    /** Begins a sweep as clients do: with an Idempotency-Key. */
    begin(spec: object): Promise<Answer['json']> {
      const { body, headers } = json({ config: 'train.yaml', ...spec });
      const keyed = { ...headers, 'Idempotency-Key': `sweep-${randomUUID()}` };
      return must(call(createSweep, '', { body, headers: keyed }));
    },
    refused: async (spec: object) =>
      (await call(createSweep, '', json({ config: 'train.yaml', ...spec }))).json,
    trials: (sweep_id: string) => must(call(listTrials, sweep_id)),
    ended: (sweep_id: string) =>
      until(
        sweep_id,
        ({ status, counts }) => !['RUNNING', 'PAUSED'].includes(status) && counts.running === 0,
      ),
  };
}
