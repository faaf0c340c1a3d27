import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as compareExperiments } from '../../../functions/experiments/compare/compare-experiments.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as rerun } from '../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';

/** Prints its arguments, and logs the param that it is told to as MLflow's client would. */
const program = `
import json, os, sys, urllib.request
print("arguments:", json.dumps(sys.argv[1:]))
for word in sys.argv[1:]:
    if word.startswith("--log="):
        body = {"run_id": os.environ["MLFLOW_RUN_ID"], "key": "lr", "value": word[6:]}
        urllib.request.urlopen(urllib.request.Request(
            os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/runs/log-parameter", json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]}))
`;

import { everySample } from '../../support/samples.ts';

let service: TrainingService;
const endings: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  service = await trainingService({}, {}, (end) => endings.push(end));
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

async function begin(command: string, config = 'seed: 7\n') {
  const project_id = await service.project({ command, files: { 'train.py': program } });
  const as = service.developer;
  const path = { project_id };
  await service.call(putConfig, { path: { project_id, config_id: 'train.yaml' }, body: config, as });
  const begun = () => service.call(train, { path, query: { config: 'train.yaml' }, as });
  return {
    project_id,
    begun,
    async train() {
      const answer = await begun();
      expect(answer.status, answer.text).toBe(200);
      return service.ended(project_id, answer.json.experiment_id);
    },
    again: (experiment_id: string, query: Record<string, string>) =>
      service.call(rerun, { path: { project_id, experiment_id }, query, as }),
    async printed(experiment_id: string): Promise<unknown> {
      const [, words] = /arguments: (.*)/.exec(await service.log(project_id, experiment_id)) ?? [];
      return JSON.parse(words ?? 'null');
    },
  };
}

describe('flags of a command', () => {
  test('are params beside those of the configuration, which wins a clash and says so', async () => {
    const command = 'python3 train.py --lr 0.1 --seed 8 --token abcdefgh --out {output_dir}/a';
    const project = await begin(command);

    const ended = await project.train();

    expect(ended).toMatchObject({
      status: 'SUCCEEDED',
      command: "python3 train.py --lr 0.1 --seed 8 --token '***' --out {output_dir}/a",
      params: { lr: '0.1', seed: '7' },
      warnings: ['The command has seed 8, but the param seed is 7, from the configuration or the program.'],
    });
    expect(Object.keys(ended['params'])).toEqual(['lr', 'seed']);
  });

  test('take values of the configuration, and a rerun changes both', async () => {
    const project = await begin(
      'python3 train.py --lr {optimizer.lr} {args}',
      'optimizer: {lr: 0.1}\namp: true\n',
    );
    const first = await project.train();
    expect(await project.printed(first['experiment_id'])).toEqual([
      '--lr',
      '0.1',
      '--optimizer.lr=0.1',
      '--amp',
    ]);
    expect(first['params']).toEqual({ lr: '0.1', 'optimizer.lr': '0.1', amp: 'true' });

    const answer = await project.again(first['experiment_id'], {
      overrides: '{"optimizer.lr":0.4,"--epochs":3}',
    });

    const second = await service.ended(project.project_id, answer.json.experiment_id);
    expect(await project.printed(second['experiment_id'])).toEqual([
      ...['--lr', '0.4', '--optimizer.lr=0.4', '--amp', '--epochs=3'],
    ]);
    const compared = await service.call(compareExperiments, {
      path: { project_id: project.project_id },
      query: { experiments: `${first['experiment_id']},${second['experiment_id']}`, changed_files: 'false' },
      as: service.developer,
    });
    expect(compared.json).toMatchObject({
      params: { differ: { lr: ['0.1', '0.4'], 'optimizer.lr': ['0.1', '0.4'], epochs: [null, '3'] } },
      attributes: { differ: { command: [expect.any(String), expect.stringContaining('--epochs=3')] } },
    });
  });

  test.runIf(everySample)(
    'change in a rerun by name or with the whole command, and only where they can',
    async () => {
      const project = await begin('python3 train.py --lr 0.1');
      const { experiment_id } = await project.train();
      const ran = async (query: Record<string, string>) => {
        const answer = await project.again(experiment_id, query);
        expect(answer.status, answer.text).toBe(200);
        await service.ended(project.project_id, answer.json.experiment_id);
        return project.printed(answer.json.experiment_id);
      };

      expect(await ran({ overrides: '{"lr":0.4,"seed":9}' })).toEqual(['--lr', '0.4']);
      expect(await ran({ command: 'python3 train.py --resume', overrides: '{"--lr":2}' })).toEqual([
        '--resume',
        '--lr=2',
      ]);

      const refused = [
        await project.again(experiment_id, { overrides: '{"learning":1}' }),
        await project.again(experiment_id, { command: 'cat x | sh' }),
        await project.again(experiment_id, { command: 'python3 train.py {rate}' }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
      expect(refused.map(({ text }) => text)).toEqual([
        expect.stringContaining('does not lead to a single value of the configuration'),
        expect.stringContaining('a pipe'),
        expect.stringContaining('no single value for {rate} of the command'),
      ]);
    },
  );

  test.runIf(everySample)('give way to what the program logs under their name', async () => {
    const project = await begin('python3 train.py --lr 1e-1 --log=0.1');

    const ended = await project.train();

    expect(ended).toMatchObject({ status: 'SUCCEEDED', params: { lr: '0.1' }, warnings: [] });
  });

  test('name a value that the configuration lacks: nothing starts', async () => {
    const project = await begin('python3 train.py');
    const query = {
      entry_point_command: 'python3 train.py {data_dirs} {lr}',
      env_type: 'system',
      dependencies: '-',
    };
    const { project_id } = project;
    const stored = await service.call(putEnvironment, { path: { project_id }, query, as: service.developer });
    expect(stored.status, stored.text).toBe(200);

    const refused = await project.begun();

    expect(refused.status).toBe(400);
    expect(refused.text).toContain(
      'train.yaml has no single value for {data_dirs}, {lr} of the command; {config}, {output_dir}',
    );
  });
});
