import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as searchExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as rerun } from '../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { everySample } from '../../support/samples.ts';
import type { Answer } from '../../support/service.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { usualHook } from '../hooks/usual-hook.ts';
import { json } from '../users/body.ts';

/** Reports the values of its configuration's list, and waits. Saves a checkpoint at SIGTERM. */
const program = `
trap 'touch "$CHECKPOINT_DIR/saved"; exit 143' TERM
step=0
for value in "$@"; do
  step=$((step + 1))
  printf '{"loss": %s, "step": %s}\\n' "$value" "$step" >> "$METRICS_FILE"
done
echo reported
while [ ! -e "$OUTPUT_DIR/end" ]; do sleep 0.1; [ -n "$END" ] && exit 0; done
`;

const ends: (() => Promise<unknown>)[] = [];
let service: TrainingService;

beforeAll(async () => {
  service = await trainingService({}, {}, (end) => ends.push(end));
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const projectOf = (values: string, command = `sh train.sh ${values}`) =>
  service.project({ command, files: { 'train.sh': program } });

const call = (endpoint: AnyEndpoint, path: object, more: object = {}) =>
  service.call(endpoint, { path: { ...path }, as: service.developer, ...more });

async function must(answer: Promise<Answer>): Promise<Answer['json']> {
  const { status, text, json: body } = await answer;
  expect(status, text).toBe(200);
  return body;
}

const trainWith = (project_id: string, rules?: unknown) =>
  must(
    call(
      train,
      { project_id },
      {
        query: { config: 'train.yaml', ...(rules !== undefined && { rules: JSON.stringify(rules) }) },
      },
    ),
  );

const setRules = (project_id: string, rules: unknown) =>
  must(call(updateProject, { project_id }, json({ rules })));

describe('a rule', () => {
  test('stops a training whose loss is NaN, as a cancel does, and stores its checkpoint', async () => {
    const project_id = await projectOf('1 0.5 NaN 0.4');
    const told = await usualHook(service, project_id);

    const { experiment_id, rules } = await trainWith(project_id, [{ nan: 'loss', do: 'stop' }]);
    const stopped = await service.ended(project_id, experiment_id);
    const checkpoints = await must(
      call(listArtifacts, { project_id, experiment_id }, { query: { kind: 'checkpoint' } }),
    );

    expect(rules).toEqual([{ rule: { nan: 'loss', do: 'stop' }, of: 'run', met: null }]);
    expect(stopped).toMatchObject({
      status: 'CANCELLED',
      status_reason: 'Stopped by the rule "nan: loss": loss was NaN at step 3.',
      rules: [{ met: { reason: 'loss was NaN at step 3.' } }],
    });
    expect(checkpoints).toMatchObject([{ path: 'saved' }]);
    expect(await service.log(project_id, experiment_id)).toContain('Stopped by the rule "nan: loss"');
    expect(await told()).toEqual(['experiment.stopped']);
  });

  test.runIf(everySample)(
    'of a project stops each of its later runs, and a rerun has its present ones',
    async () => {
      const project_id = await projectOf('1 2 20 30');

      await setRules(project_id, [
        { above: { metric: 'loss', value: 10, for: '2 evaluations' }, do: 'stop' },
      ]);
      const first = await trainWith(project_id);
      const stopped = await service.ended(project_id, first.experiment_id);
      await setRules(project_id, [{ silent: '1s', do: 'stop' }]);
      const path = { project_id, experiment_id: first.experiment_id };
      const again = await must(call(rerun, path, { query: { fresh: 'true' } }));
      const silent = await service.ended(project_id, again.experiment_id);

      expect(first.rules).toMatchObject([{ of: 'project', met: null }]);
      expect(stopped.status_reason).toBe(
        'Stopped by the rule "loss > 10 for 2 evaluations": loss was 30 at step 4, above 10 for 2 evaluations.',
      );
      expect(again.rules).toMatchObject([{ rule: { silent: '1s' }, of: 'project' }]);
      expect(silent).toMatchObject({
        status: 'CANCELLED',
        status_reason:
          'Stopped by the rule "silent: 1s": the program printed nothing and reported no metric for 1s.',
      });
    },
  );

  test.runIf(everySample)('judges what the machine does before its samples are stored', async () => {
    const project_id = await projectOf('1', 'sh -c "sh train.sh 1"');
    const variables = [{ name: 'MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL', value: '1', secret: false }];
    await must(call(putVariables, { project_id }, json({ variables })));

    const { experiment_id } = await trainWith(project_id, [{ idle: { cpu: '90 %', for: '2s' }, do: 'stop' }]);
    const stopped = await service.ended(project_id, experiment_id);

    expect(stopped.status_reason).toContain('the vCPUs were not used by 90 % or more for 2s.');
  });

  test.runIf(everySample)('of a sweep is a rule of each of its experiments', async () => {
    const project_id = await projectOf('NaN');
    const rule = { nan: 'loss', do: 'stop' };
    const spec = { method: 'grid', args: true, parameters: { lr: { values: [1] } }, rules: [rule] };

    await must(call(createSweep, { project_id }, json(spec)));
    const [trial] = await must(call(searchExperiments, { project_id }));

    expect(trial).toMatchObject({ trial: 0, rules: [{ rule, of: 'run' }] });
    const ended = await service.ended(project_id, trial.experiment_id);
    expect(ended).toMatchObject({
      outcome: 'stopped early',
      rules: [{ met: { reason: 'loss was NaN at step 1.' } }],
    });
  });

  test('stops no run that does not meet it, and is named if its metric never came', async () => {
    const project_id = await projectOf('1 0.5 0.6 0.55', "sh -c 'END=1 sh train.sh 1 0.5 0.6 0.55'");

    const { experiment_id } = await trainWith(project_id, [
      { nan: 'loss', do: 'stop' },
      { above: { metric: 'loss', value: 1 }, do: 'stop' },
      { 'no improvement': { metric: 'loss', for: '3 evaluations' }, do: 'stop' },
      { silent: '5m', do: 'stop' },
      { below: { metric: 'los', value: 1 }, do: 'stop' },
      { idle: { gpu: '5 %', for: '20m' }, do: 'stop' },
    ]);
    const ended = await service.ended(project_id, experiment_id);

    expect(ended).toMatchObject({ status: 'SUCCEEDED', status_reason: null });
    expect(ended.warnings).toEqual([
      'The rule "los < 1" was never judged, because the run reported no metric los. Did you mean loss?',
      'The rule "idle: gpu 5 % for 20m" was never judged, because nothing measured the use of a GPU.',
    ]);
  });
});
