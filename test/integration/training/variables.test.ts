import { setTimeout as sleep } from 'node:timers/promises';
import { BatchClient, DescribeJobsCommand, ListJobsCommand } from '@aws-sdk/client-batch';
import { describe, expect, test } from 'vitest';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as cancel } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as readLogs } from '../../../functions/experiments/records/read-logs.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import { readJobVariables } from '../../../shared/data/jobs/job-variables.ts';
import { testCredentials, testRegion } from '../../support/emulators.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { json } from '../users/body.ts';

const token = 'hf_Secret0123456789abcdef';
const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAo\n-----END KEY-----\n';
const database = 'postgres://ann:p%40ss-w0rd-77@db.example/train';
const secrets = [
  token,
  'MIIEvQIBADANBgkqhkiG9w0',
  'BAQEFAASCBKcwggSjAgEAAo',
  'p%40ss-w0rd-77',
  'p@ss-w0rd-77',
];

const script = `
import base64, json, os, sys, time
token, pem = os.environ['HF_TOKEN'], os.environ['KEY_PEM']
print('plain', os.environ['OMP_NUM_THREADS'], 'lengths', len(token), len(pem), os.environ['KEY_PEM'].count('\\n'))
print('token is', token)
for letter in token + '\\n':
    sys.stdout.write(letter); sys.stdout.flush(); time.sleep(0.005)
print(pem, file=sys.stderr)
print(json.dumps({'pem': pem}), base64.b64encode(token.encode()).decode())
print('x' * (16384 - 12) + token + 'y' * 40)
print('0%', end='\\r'); print('50% ' + token, end='\\r'); print('100%')
print('password', 'p@ss-w0rd-77', os.environ['DATABASE_URL'])
with open(os.environ['METRICS_FILE'], 'a') as metrics:
    metrics.write(json.dumps({'name': 'loss ' + token, 'value': 0.5}) + '\\n')
    metrics.write('no metric: ' + token + '\\n')
open(os.path.join(os.environ['OUTPUT_DIR'], 'ready'), 'w').write('x')
raise ValueError('the token was ' + token)
`;

async function setVariables(service: TrainingService, project_id: string): Promise<void> {
  const variables = [
    { name: 'HF_TOKEN', value: token },
    { name: 'KEY_PEM', value: pem },
    { name: 'DATABASE_URL', value: database },
    { name: 'OMP_NUM_THREADS', value: '2', secret: false },
  ];
  const path = { project_id };
  const set = await service.call(putVariables, { ...json({ variables }), path, as: service.developer });
  expect(set.status, set.text).toBe(200);
}

const copyOf = (service: TrainingService, experiment_id: string) =>
  readJobVariables(service.records, jobPartition(experiment_id));

/** Whatever Batch tells of its jobs, whoever may ask it. */
async function described({ batch }: TrainingService): Promise<string> {
  const client = new BatchClient({ region: testRegion, endpoint: batch.url, credentials: testCredentials });
  try {
    const statuses = ['RUNNING', 'SUCCEEDED', 'FAILED'] as const;
    const lists = await Promise.all(
      statuses.map((jobStatus) => client.send(new ListJobsCommand({ jobQueue: 'train', jobStatus }))),
    );
    const jobs = lists.flatMap(({ jobSummaryList = [] }) => jobSummaryList.map(({ jobId = '' }) => jobId));
    return JSON.stringify(await client.send(new DescribeJobsCommand({ jobs })));
  } finally {
    client.destroy();
  }
}

describe('variables of a project', () => {
  test('reach its command; secrets are masked in log, metrics and reason, and the copy goes with the end', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const project_id = await service.project({ command: 'python3 train.py', files: { 'train.py': script } });
    await setVariables(service, project_id);
    const path = { project_id };
    const begun = await service.call(train, { path, query: { config: 'train.yaml' }, as });
    const { experiment_id } = begun.json;
    expect(await copyOf(service, experiment_id)).toBeDefined();
    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(log).toContain(`plain 2 lengths ${token.length} ${pem.length} 4`);
    expect(log.split('\n')).toEqual(
      expect.arrayContaining(['token is ***', '***', '100%', 'password *** ***']),
    );
    expect(ended.status_reason).toBe('ValueError: the token was ***\nThe command ended with exit code 1.');
    const of = { path: { ...path, experiment_id }, as };
    const { json: lines } = await service.call(readLogs, of);
    const { json: metrics } = await service.call(readMetrics, of);
    expect(JSON.stringify(metrics)).toContain('loss ***');
    const all = [log, JSON.stringify([begun.json, ended, lines, metrics]), await described(service)].join(
      '\n',
    );
    const partition = await service.records.query({ pk: jobPartition(experiment_id) });
    for (const secret of [...secrets, Buffer.from(token).toString('base64').slice(0, 30)])
      expect(`${all}${JSON.stringify(partition)}`.includes(secret), secret).toBe(false);
    expect(await copyOf(service, experiment_id)).toBeUndefined();
  });

  test('are those of the submission, for every attempt', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const command = 'sh -c "printenv MODE; sleep 2; printenv MODE"';
    const project_id = await service.project({ command });
    const path = { project_id };
    const set = (value: string) =>
      service.call(putVariable, { ...json({ value, secret: false }), path: { ...path, name: 'MODE' }, as });
    await set('first');
    const begun = await service.call(train, { path, query: { config: 'train.yaml' }, as });
    await set('second');
    const { experiment_id } = begun.json;
    expect((await service.ended(project_id, experiment_id)).status).toBe('SUCCEEDED');
    expect((await service.log(project_id, experiment_id)).match(/^(first|second)$/gm)).toEqual([
      'first',
      'first',
    ]);
  });

  test.runIf(everySample)('reach every node of a cluster, and go when it is cancelled', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const project_id = await service.project({ command: 'sh -c "echo $NODE_RANK $HF_TOKEN; sleep 600"' });
    await setVariables(service, project_id);
    const path = { project_id };
    const begun = await service.call(trainRemote, { path, query: { nodes: '2' }, as });
    const { experiment_id } = begun.json;
    for (const node of [0, 1])
      while (!(await service.log(project_id, experiment_id, node)).includes(`${node} ***`)) await sleep(100);
    expect(await copyOf(service, experiment_id)).toBeDefined();
    await service.call(cancel, { path: { ...path, experiment_id }, as });
    expect((await service.ended(project_id, experiment_id)).status).toBe('CANCELLED');
    expect(await copyOf(service, experiment_id)).toBeUndefined();
  });
});
