import { expect, test } from 'vitest';
import { catalogueOf } from '../../../../../infra/local/batch/catalogue.ts';
import {
  admitted,
  attemptEnded,
  cancelled,
  exitedByItself,
  nodeEnded,
  nodeStarted,
  settled,
  starting,
} from '../../../../../infra/local/batch/jobs/job-life.ts';
import { JobRecord } from '../../../../../infra/local/batch/jobs/job-record.ts';
import { newJobRecord } from '../../../../../infra/local/batch/jobs/new-job-record.ts';

const other = '00000000-0000-4000-8000-000000000000';

function submitted(type: 'container' | 'multinode', dependsOn: string[] = []): JobRecord {
  const definition = { name: 'd', type, command: ['x'], environment: {}, vcpus: 1, memory: 1, attempts: 2 };
  const catalogue = catalogueOf(
    'eu-central-1',
    [{ name: 'q', maxJobs: 1 }],
    [{ ...definition, numNodes: 2 }],
  );
  const dependencies = dependsOn.map((jobId) => ({ jobId }));
  const request = { jobName: 'j', jobQueue: 'q', jobDefinition: 'd', dependsOn: dependencies };
  return newJobRecord(request, {
    catalogue,
    minimumTimeoutSeconds: 60,
    sequence: 1,
    now: 1,
    jobExists: () => true,
  });
}

const running = (type: 'container' | 'multinode') =>
  nodeStarted(starting(admitted(submitted(type))), 0, { process: { pid: 2, startTime: 'x' } }, 2);
const ended = (job: JobRecord, exitCode: number) =>
  nodeEnded(job, 0, { exitCode, statusReason: exitedByItself }, 3);

test('every state can be written to a file and read again', () => {
  const states = [
    submitted('multinode'),
    running('container'),
    attemptEnded(ended(running('container'), 0), 4),
  ];
  for (const job of states) expect(JobRecord.parse(JSON.parse(JSON.stringify(job)))).toEqual(job);
  expect(states.map(({ status }) => status)).toEqual(['SUBMITTED', 'RUNNING', 'SUCCEEDED']);
});

test('a dependency that is not known any more does not hold a job up', () => {
  const pending = admitted(submitted('container', [other]));
  expect(settled(pending, () => 'RUNNING', 2)).toBe(pending);
  expect(settled(pending, () => undefined, 2).status).toBe('RUNNABLE');
});

test('a termination outlives the end of the process, and is the end of retries', () => {
  const job = cancelled(running('container'), 'stop', true, 3);
  expect(job.status).toBe('RUNNING');
  expect(attemptEnded(ended(job, 0), 4)).toMatchObject({ status: 'FAILED', statusReason: 'stop' });
});

test('the recorded end of a main node is not overwritten by what comes after it', () => {
  const job = ended(running('multinode'), 0);
  expect(nodeEnded(job, 0, { statusReason: 'Host EC2 lost' }, 9)).toEqual(job);
  expect(attemptEnded(job, 9).status).toBe('SUCCEEDED');
});

test('what has ended, or waits, is not started', () => {
  const done = attemptEnded(ended(running('container'), 0), 4);
  expect(starting(done)).toBe(done);
  expect(cancelled(done, 'late', true, 5)).toBe(done);
  expect(attemptEnded(done, 5)).toBe(done);
});
