import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as rerun } from '../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { everySample, sampled } from '../../support/samples.ts';
import { type TrainingService, trainingService, uploadSource } from '../../support/training.ts';

/** Counts its runs in a checkpoint, and does what the configuration says. */
const program = `
echo run >> "$CHECKPOINT_DIR/runs"
echo "runs: $(wc -l < "$CHECKPOINT_DIR/runs" | tr -d ' ')"
cat "$CONFIG_PATH"
echo "source: $(cat name.txt)"
if grep -q 'wait: true' "$CONFIG_PATH"; then sleep 600; fi
if grep -q 'fail: true' "$CONFIG_PATH"; then exit 3; fi
if grep -q 'eat: true' "$CONFIG_PATH"; then python3 -c 'import time; held = b"x" * (1 << 30); time.sleep(600)'; fi
`;
const config = 'lr: 0.1 # the rate\nmodel:\n  layers: [3, 4]\nfail: false\nwait: false\neat: false\n';

const commit = { git_commit: '3f2a9c1', git_branch: 'main', git_dirty: 'true' };

let service: TrainingService;
const endings: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  service = await trainingService({}, { LIMIT_UNFINISHED_JOBS: '100' }, (end) => endings.push(end));
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

async function begin() {
  const files = { 'run.sh': program, 'name.txt': 'first' };
  const project_id = await service.project({ command: 'sh run.sh', files });
  const as = service.developer;
  const put = (body: string) =>
    service.call(putConfig, { path: { project_id, config_id: 'train.yaml' }, body, as });
  await put(config);
  const of = (experiment_id: string) => ({ path: { project_id, experiment_id }, as });
  const again = (experiment_id: string, query: Record<string, string> = {}, headers = {}) =>
    service.call(rerun, { ...of(experiment_id), query, headers });
  return {
    project_id,
    put,
    again,
    train: async (more: Record<string, string> = {}): Promise<string> => {
      const query = { config: 'train.yaml', ...commit, ...more };
      return (await service.call(train, { path: { project_id }, query, as })).json.experiment_id;
    },
    rerun: async (id: string, query: Record<string, string> = {}): Promise<string> => {
      const answer = await again(id, query);
      expect(answer.status, answer.text).toBe(200);
      return answer.json.experiment_id;
    },
    ended: (id: string) => service.ended(project_id, id),
    log: (id: string) => service.log(project_id, id),
    remove: (id: string) => service.call(deleteExperiment, of(id)),
    cancel: (id: string) => service.call(cancelExperiment, of(id)),
  };
}

describe('a rerun', () => {
  test('has the inputs of the earlier experiment, whatever the project holds by now, and its checkpoints', async () => {
    const project = await begin();
    const first = await project.train();
    const earlier = await project.ended(first);
    await project.put('lr: 99\n');
    const { project_id } = project;
    const query = { entry_point_command: 'false', env_type: 'system', dependencies: 'none' };
    await service.call(putEnvironment, { path: { project_id }, query, as: service.developer });
    const second = await project.rerun(first);
    const later = await project.ended(second);
    const git = { commit: '3f2a9c1', branch: 'main', dirty: true };
    expect([earlier.git, later.git]).toEqual([git, git]);
    const same = [
      'config_id',
      'config_version',
      'config_sha256',
      'source_sha256',
      'vcpus',
      'memory',
      'timeout',
    ];
    for (const name of same) expect(later[name], name).toEqual(earlier[name]);
    expect(later).toMatchObject({
      status: 'SUCCEEDED',
      rerun_of: first,
      continues_from: first,
      overrides: null,
      attempt: 1,
    });
    const log = await project.log(second);
    expect(log).toContain('runs: 2');
    expect(log).toContain('lr: 0.1');
    expect(log).toContain('source: first');
    expect(log).toContain(`1 checkpoint files of experiment ${first} are in CHECKPOINT_DIR.`);
  });

  test.runIf(everySample)(
    'changes what it is asked to, keeps the rest of the configuration, and starts afresh if wanted',
    async () => {
      const project = await begin();
      const first = await project.train();
      await project.ended(first);
      const second = await project.rerun(first, {
        overrides: JSON.stringify({ lr: 0.003, 'model.layers.1': 8 }),
        memory: '4096',
        timeout: '600',
        fresh: 'true',
      });
      const changed = await project.ended(second);
      expect(changed).toMatchObject({
        status: 'SUCCEEDED',
        config_version: 2,
        memory: 4096,
        timeout: 600,
        continues_from: null,
        overrides: { lr: 0.003, 'model.layers.1': 8 },
      });
      const log = await project.log(second);
      expect(log).toContain('runs: 1');
      expect(log).toContain('lr: 0.003 # the rate');
      expect(log).toMatch(/layers: \[ ?3, 8 ?\]/);
      // A rerun of it has both changes, and one more.
      const third = await project.rerun(second, { overrides: '{"fail":true}' });
      const failed = await project.ended(third);
      expect(failed).toMatchObject({ status: 'FAILED', overrides: { lr: 0.003, fail: true } });
      expect(await project.log(third)).toContain('lr: 0.003 # the rate');
    },
  );

  test.runIf(everySample)(
    'goes on after a failure and after a cancel, also where a rerun stored no checkpoint itself',
    async () => {
      const project = await begin();
      await project.put(config.replace('fail: false', 'fail: true'));
      const failed = await project.train();
      expect(await project.ended(failed)).toMatchObject({ status: 'FAILED', exit_code: 3 });
      const waiting = await project.rerun(failed, { overrides: '{"wait":true}' });
      expect((await project.again(waiting)).status).toBe(409);
      await project.cancel(waiting);
      await project.ended(waiting);
      const last = await project.rerun(waiting, { overrides: '{"wait":false,"fail":false}' });
      expect(await project.ended(last)).toMatchObject({ status: 'SUCCEEDED' });
      expect(await project.log(last)).toMatch(/runs: [23]/);
    },
  );

  test.each(
    sampled(
      [
        ['ran out of memory', 'eat', { vcpus: '0.25', memory: '512' }, 'memory'],
        // Within which even a machine that does much else comes to the first line of the program.
        ['was stopped at its timeout', 'wait', { timeout: '10' }, 'timeout'],
      ],
      2,
    ),
  )('goes on from the checkpoints of one that %s', async (_, what, query, reason) => {
    const project = await begin();
    await project.put(config.replace(`${what}: false`, `${what}: true`));
    const first = await project.train(query);
    const failed = await project.ended(first);
    expect(failed).toMatchObject({ status: 'FAILED', status_reason: expect.stringContaining(reason) });
    const enough = { timeout: '600', vcpus: '0.5', memory: '1024' };
    const second = await project.rerun(first, { overrides: `{"${what}":false}`, ...enough });
    const later = await project.ended(second);
    expect(later).toMatchObject({
      status: 'SUCCEEDED',
      continues_from: first,
      ...{ memory: 1024, timeout: 600 },
    });
    expect(later['config_version']).toBe(failed['config_version']);
    expect(await project.log(second)).toContain('runs: 2');
  });

  test.runIf(everySample)(
    'keeps the checkpoints from being deleted until it has ended, and has its own then',
    async () => {
      const project = await begin();
      const first = await project.train();
      await project.ended(first);
      const second = await project.rerun(first, { overrides: '{"wait":true}' });
      const refused = await project.remove(first);
      expect(refused).toMatchObject({ status: 409, json: { detail: expect.stringContaining(second) } });
      await service.until(project.project_id, second, ({ status }) => status === 'RUNNING');
      await expect.poll(() => project.log(second)).toContain('runs: 2');
      await project.cancel(second);
      await project.ended(second);
      expect((await project.remove(first)).status).toBe(200);
      const third = await project.rerun(second, { overrides: '{"wait":false}' });
      expect(await project.ended(third)).toMatchObject({ status: 'SUCCEEDED', continues_from: second });
      expect(await project.log(third)).toContain('runs: 3');
    },
  );

  test.runIf(everySample)('is begun once under an Idempotency-Key', async () => {
    const project = await begin();
    const first = await project.train();
    await project.ended(first);
    const headers = { 'Idempotency-Key': 'again' };
    const [one, two] = [await project.again(first, {}, headers), await project.again(first, {}, headers)];
    expect(two.json.experiment_id).toBe(one.json.experiment_id);
    expect((await project.again(first, { fresh: 'true' }, headers)).status).toBe(422);
    await project.ended(one.json.experiment_id);
  });

  test.runIf(everySample)(
    'takes a configuration that is named, and another source only by a training',
    async () => {
      const project = await begin();
      const first = await project.train();
      await project.ended(first);
      await project.put('lr: 7\n');
      const { project_id } = project;
      await uploadSource(service, service.developer, project_id, Buffer.from('not even an archive')).catch(
        () => undefined,
      );
      const second = await project.rerun(first, { config: 'train.yaml' });
      expect(await project.ended(second)).toMatchObject({ status: 'SUCCEEDED', config_version: 3 });
      expect(await project.log(second)).toContain('lr: 7');
    },
  );

  describe('that cannot be', () => {
    let project: Awaited<ReturnType<typeof begin>>;
    let first: string;
    beforeAll(async () => {
      project = await begin();
      first = await project.train();
      await project.ended(first);
    });

    test.each([
      [{ overrides: '{"rate":1,"model.layers":2}' }, 'rate'],
      [{ overrides: 'lr=1' }, 'JSON object'],
      [{ overrides: '{}' }, 'JSON object'],
      [{ overrides: '{"lr":[1]}' }, 'JSON object'],
      [{ overrides: '{"lr":9007199254740993}' }, 'is not kept exactly'],
      [{ overrides: '{"seed":-9223372036854775808}' }, 'is not kept exactly'],
      [{ nodes: '3' }, 'one machine'],
      [{ vcpus: '3' }, 'must be one of'],
      [{ timeout: '1000000' }, 'at most'],
    ])('of %o is refused', async (query, message) => {
      const answer = await project.again(first, query);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.json.errors[0].message).toContain(message);
    });

    test('of what is not there is 404', async () => {
      expect((await project.again('01h00000000000000000000000')).status).toBe(404);
      expect((await project.again(first, { config: 'other.yaml' })).status).toBe(404);
      expect((await project.again(first, { dataset: 'absent' })).status).toBe(404);
    });
  });
});
