import { request } from 'node:http';
import {
  CancelJobCommand,
  DescribeJobsCommand,
  ListJobsCommand,
  paginateListJobs,
  TerminateJobCommand,
} from '@aws-sdk/client-batch';
import { describe, expect, test } from 'vitest';
import { clientOf, credentials, region, sh, startLocalBatch } from './local-batch.ts';

/** Sends a request as it is and resolves with status, exception and body. */
function send(url: string, method: string, path: string, headers: Record<string, string>, body: string) {
  return new Promise<{ status: number | undefined; error: unknown; body: string }>((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, error: response.headers['x-amzn-errortype'], body: text });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** What the SDK would send for DescribeJobs of no jobs. */
async function signedRequest(url: string) {
  const client = clientOf(url);
  const captured: Record<string, string>[] = [];
  client.middlewareStack.add(
    (next) => async (args) => {
      captured.push({ ...(args.request as { headers: Record<string, string> }).headers });
      return await next(args);
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  await client.send(new DescribeJobsCommand({ jobs: [] }));
  return captured[0]!;
}

describe('a request', () => {
  test('is refused without a signature', async () => {
    const { url } = await startLocalBatch();
    const body = JSON.stringify({ jobs: [] });
    const answer = await send(url, 'POST', '/v1/describejobs', { 'content-type': 'application/json' }, body);
    expect(answer).toMatchObject({ status: 403, error: 'MissingAuthenticationTokenException' });
    const broken = await send(url, 'POST', '/v1/describejobs', { authorization: 'AWS4-HMAC-SHA256 x' }, body);
    expect(broken).toMatchObject({ status: 403, error: 'IncompleteSignatureException' });
  });

  test('is refused with foreign credentials or for another region', async () => {
    const { url } = await startLocalBatch();
    const describeNone = new DescribeJobsCommand({ jobs: [] });
    const wrongSecret = clientOf(url, { ...credentials, secretAccessKey: 'guessed' }).send(describeNone);
    await expect(wrongSecret).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    const wrongId = clientOf(url, { ...credentials, accessKeyId: 'other' }).send(describeNone);
    await expect(wrongId).rejects.toMatchObject({ name: 'UnrecognizedClientException' });
    const client = clientOf(url);
    client.config.region = async () => `${region}-2`;
    await expect(client.send(describeNone)).rejects.toMatchObject({ name: 'UnrecognizedClientException' });
  });

  test('is refused when its body, path or date is not what was signed', async () => {
    const { url } = await startLocalBatch();
    const headers = await signedRequest(url);
    const { 'content-length': _, ...rest } = headers;
    const good = await send(url, 'POST', '/v1/describejobs', headers, '{"jobs":[]}');
    const otherBody = await send(url, 'POST', '/v1/describejobs', rest, '{"jobs":["x"]}');
    const otherPath = await send(url, 'POST', '/v1/listjobs', headers, '{"jobs":[]}');
    const otherDate = await send(
      url,
      'POST',
      '/v1/describejobs',
      { ...headers, 'x-amz-date': '20200101T000000Z' },
      '{"jobs":[]}',
    );
    expect(good).toMatchObject({ status: 200, body: '{"jobs":[]}' });
    expect([otherBody, otherPath].map(({ error }) => error)).toEqual(
      Array(2).fill('InvalidSignatureException'),
    );
    expect(otherDate.status).toBe(403);
  });

  test('of more bytes than AWS Batch takes is refused, and the server goes on', async () => {
    const { submit, ended, url } = await startLocalBatch();
    await expect(submit(['x'.repeat(40_000)])).rejects.toMatchObject({ $metadata: { httpStatusCode: 413 } });
    const huge = send(url, 'POST', '/v1/submitjob', {}, 'x'.repeat(8_000_000)).catch(() => ({ status: 413 }));
    expect((await huge).status).toBe(413);
    expect((await ended(await submit(['/bin/true']))).status).toBe('SUCCEEDED');
  });
});

describe('SubmitJob refuses', () => {
  const command = ['/bin/true'];
  const id = '00000000-0000-4000-8000-000000000000';
  const overrides = (environment: { name: string; value: string }[]) => ({
    containerOverrides: { environment },
  });
  test.each([
    ['a bad name', { jobName: '-x' }, 'jobName: should match valid pattern'],
    ['a long name', { jobName: 'x'.repeat(129) }, 'jobName'],
    ['an unknown queue', { jobQueue: '../x' }, 'Job queue ../x does not exist'],
    ['an unknown definition', { jobDefinition: 'once:2' }, 'Job definition once:2 does not exist'],
    ['a short timeout', { timeout: { attemptDurationSeconds: 0 } }, 'must be at least 1 seconds'],
    ['too many attempts', { retryStrategy: { attempts: 11 } }, 'retryStrategy.attempts'],
    [
      'rules without attempts',
      { retryStrategy: { evaluateOnExit: [{ action: 'EXIT' as const }] } },
      'attempts must be given',
    ],
    ['an unknown dependency', { dependsOn: [{ jobId: id }] }, `${id} does not exist`],
    ['too many dependencies', { dependsOn: Array(21).fill({ jobId: id }) }, 'dependsOn'],
    ['a variable of Batch', overrides([{ name: 'AWS_BATCH_JOB_ID', value: 'x' }]), 'AWS_BATCH'],
    ['a variable with a zero byte', overrides([{ name: 'A', value: '\0' }]), 'zero byte'],
    [
      'an empty word in the command',
      { containerOverrides: { command: ['/bin/true', ''] } },
      'may not be empty',
    ],
    ['an array job', { arrayProperties: { size: 2 } }, 'arrayProperties'],
    ['nodes of a container job', { nodeOverrides: { numNodes: 2 } }, 'nodeOverrides must not be provided'],
    [
      'a container for a multi-node job',
      { jobDefinition: 'nodes' },
      'containerOverrides must not be provided',
    ],
    [
      'a range beyond the nodes',
      { jobDefinition: 'nodes', nodeOverrides: { nodePropertyOverrides: [{ targetNodes: '0:2' }] } },
      'not a range of 2 nodes',
    ],
  ])('%s', async (_, more, message) => {
    const { submit } = await startLocalBatch();
    await expect(submit(command, more)).rejects.toMatchObject({
      name: 'ClientException',
      message: expect.stringContaining(message),
      $metadata: { httpStatusCode: 400 },
    });
  });
});

test('queue and definition go by name or ARN, the definition by revision too', async () => {
  const { submit, ended } = await startLocalBatch();
  const arn = (rest: string) => `arn:aws:batch:${region}:000000000000:${rest}`;
  const jobs = [
    await submit(['/bin/true'], { jobQueue: arn('job-queue/wide'), jobDefinition: 'once:1' }),
    await submit(['/bin/true'], { jobDefinition: arn('job-definition/once:1') }),
    await submit(['/bin/true'], { jobDefinition: arn('job-definition/once') }),
  ];
  const found = await Promise.all(jobs.map(ended));
  expect(found.map(({ jobDefinition }) => jobDefinition)).toEqual(
    Array(3).fill(arn('job-definition/once:1')),
  );
});

test('jobs there are not: passed over by DescribeJobs, refused by CancelJob, TerminateJob and ListJobs', async () => {
  const { client, submit } = await startLocalBatch();
  const known = await submit(['/bin/true']);
  const jobs = ['00000000-0000-4000-8000-000000000000', `${known}#0`, '../../x', known];
  const { jobs: found } = await client.send(new DescribeJobsCommand({ jobs }));
  expect(found?.map(({ jobId }) => jobId)).toEqual([known]);
  const error = { name: 'ClientException' };
  await expect(client.send(new CancelJobCommand({ jobId: 'x', reason: 'y' }))).rejects.toMatchObject(error);
  await expect(client.send(new TerminateJobCommand({ jobId: 'x', reason: 'y' }))).rejects.toMatchObject(
    error,
  );
  await expect(client.send(new ListJobsCommand({ multiNodeJobId: known }))).rejects.toMatchObject(error);
  await expect(client.send(new DescribeJobsCommand({ jobs: Array(101).fill(known) }))).rejects.toMatchObject(
    error,
  );
});

describe('ListJobs', () => {
  test('finds jobs of any status by name, whatever the case, or by its beginning', async () => {
    const { client, submit, ended } = await startLocalBatch();
    const good = await submit(['/bin/true'], { jobName: 'Train-1' });
    const bad = await submit(['/bin/false'], { jobName: 'train-10' });
    const other = await submit(['/bin/true'], { jobName: 'train-1', jobQueue: 'narrow' });
    for (const id of [good, bad, other]) await ended(id);
    const find = async (name: string) => {
      const filters = [{ name: 'JOB_NAME', values: [name] }];
      const { jobSummaryList } = await client.send(new ListJobsCommand({ jobQueue: 'wide', filters }));
      return jobSummaryList?.map(({ jobId }) => jobId);
    };
    expect(await find('train-1')).toEqual([good]);
    expect(await find('TRAIN-1*')).toEqual([bad, good]);
    expect(await find('rain-1*')).toEqual([]);
    expect(await find('.*')).toEqual([]);
  });

  test('lists a status of a queue in pages, newest first, RUNNING unless told', async () => {
    const { client, submit, ended, until } = await startLocalBatch();
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push(await submit(['/bin/false'], { jobName: name }));
    for (const id of ids) await ended(id);
    const running = await submit(sh('sleep 600'));
    await until(running, ({ status }) => status === 'RUNNING');
    const pages: (string | undefined)[][] = [];
    const input = { jobQueue: 'wide', jobStatus: 'FAILED' as const };
    for await (const { jobSummaryList } of paginateListJobs({ client, pageSize: 2 }, input)) {
      pages.push(jobSummaryList!.map(({ jobId }) => jobId));
    }
    expect(pages).toEqual([[ids[2], ids[1]], [ids[0]]]);
    const { jobSummaryList } = await client.send(new ListJobsCommand({ jobQueue: 'wide' }));
    expect(jobSummaryList).toMatchObject([{ jobId: running, status: 'RUNNING', jobName: 'a-job' }]);
    const failed = await client.send(new ListJobsCommand({ ...input, maxResults: 1 }));
    expect(failed.jobSummaryList).toMatchObject([
      { container: { exitCode: 1 }, stoppedAt: expect.any(Number) },
    ]);
    await expect(client.send(new ListJobsCommand({ ...input, nextToken: 'forged' }))).rejects.toMatchObject({
      name: 'ClientException',
    });
    await expect(client.send(new ListJobsCommand({}))).rejects.toMatchObject({ name: 'ClientException' });
  });
});
