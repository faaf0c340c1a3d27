import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LocalBatch, sh, startLocalBatch, temporaryFolder } from './local-batch.ts';
import { jobDefinitions } from './server-options.ts';

const queue = { jobQueue: 'narrow' };

/** Submits a job that notes its name once it runs. */
const noting = ({ submit, folder }: LocalBatch, name: string, share?: string) =>
  submit(sh(`echo ${name} >> ${folder}/order`), {
    ...queue,
    ...(share !== undefined && { shareIdentifier: share }),
  });

/** Submits a job of `share` that holds the one place until the file of this name is there. */
const holding = ({ submit, folder }: LocalBatch, share: string) =>
  submit(sh(`while [ ! -e ${folder}/go ]; do sleep 0.02; done`), { ...queue, shareIdentifier: share });

const orderIn = async (folder: string) => (await readFile(join(folder, 'order'), 'utf8')).trim().split('\n');

test('owners take turns: another’s first job goes before the second of whose jobs wait already', async () => {
  const batch = await startLocalBatch();
  const { folder, until, ended } = batch;
  const first = await holding(batch, 'ada');
  await until(first, ({ status }) => status === 'RUNNING');
  const ids = [];
  for (const name of ['a1', 'a2', 'a3', 'a4']) ids.push(await noting(batch, name, 'ada'));
  for (const name of ['b1', 'b2']) ids.push(await noting(batch, name, 'ben'));
  ids.push(await noting(batch, 'c1', 'cleo'));
  await writeFile(join(folder, 'go'), '');
  for (const id of ids) await ended(id);
  expect(await orderIn(folder)).toEqual(['b1', 'c1', 'a1', 'b2', 'a2', 'a3', 'a4']);
});

test('a free place goes to the owner who has the fewest jobs that run', async () => {
  const batch = await startLocalBatch({ queues: [{ name: 'narrow', maxJobs: 3 }] });
  const { folder, until, ended, submit } = batch;
  const blocked = (name: string, share: string) =>
    submit(sh(`while [ ! -e ${folder}/${name} ]; do sleep 0.02; done`), { ...queue, shareIdentifier: share });
  const running = [await blocked('x', 'ada'), await blocked('y', 'ada'), await blocked('z', 'ben')];
  for (const id of running) await until(id, ({ status }) => status === 'RUNNING');
  const ids = [await noting(batch, 'a', 'ada'), await noting(batch, 'b', 'ben')];
  await writeFile(join(folder, 'z'), '');
  for (const id of ids) await ended(id);
  expect(await orderIn(folder)).toEqual(['b', 'a']);
  for (const name of ['x', 'y']) await writeFile(join(folder, name), '');
  for (const id of running) await ended(id);
});

test('jobs of no owner run as they come', async () => {
  const batch = await startLocalBatch();
  const ids = [];
  for (const name of ['1', '2', '3']) ids.push(await noting(batch, name));
  for (const id of ids) await batch.ended(id);
  expect(await orderIn(batch.folder)).toEqual(['1', '2', '3']);
});

/** What a definition runs, as two versions of the service have it. */
const program = (folder: string, version: string) =>
  jobDefinitions.map((one) =>
    one.name === 'once'
      ? {
          ...one,
          command: sh(`echo ${version} $GREETING $KEPT $EXTRA $OWN >> ${folder}/order`),
          environment: { GREETING: `hello-${version}`, KEPT: version },
        }
      : one,
  );

test('a job that waits across an upgrade runs the program and the variables of the new version', async () => {
  const folder = await temporaryFolder();
  const before = await startLocalBatch({ folder, jobDefinitions: program(folder, 'old') });
  const first = await holding(before, 'ada');
  await before.until(first, ({ status }) => status === 'RUNNING');
  const own = {
    containerOverrides: {
      environment: [
        { name: 'OWN', value: 'own' },
        { name: 'KEPT', value: 'mine' },
      ],
    },
  };
  const waiting = await before.submit([], { ...queue, ...own });
  const dependent = await before.submit([], { ...queue, ...own, dependsOn: [{ jobId: waiting }] });
  await before.server.close({ grace: 0 });
  await writeFile(join(folder, 'go'), '');

  const { ended } = await startLocalBatch({ folder, jobDefinitions: program(folder, 'new') });
  for (const id of [waiting, dependent]) expect((await ended(id)).status).toBe('SUCCEEDED');
  expect(await orderIn(folder)).toEqual(['new hello-new mine own', 'new hello-new mine own']);
});

test('so does one that a release took which did not note what came with a submission', async () => {
  const folder = await temporaryFolder();
  const before = await startLocalBatch({ folder, jobDefinitions: program(folder, 'old') });
  const first = await holding(before, 'ada');
  await before.until(first, ({ status }) => status === 'RUNNING');
  const own = { containerOverrides: { environment: [{ name: 'OWN', value: 'own' }] } };
  const waiting = await before.submit([], { ...queue, ...own });
  await before.server.close({ grace: 0 });
  await writeFile(join(folder, 'go'), '');
  const file = join(folder, 'jobs', `${waiting}.json`);
  const record = JSON.parse(await readFile(file, 'utf8'));
  for (const container of record.containers) delete container.given;
  await writeFile(file, JSON.stringify(record));

  const { ended } = await startLocalBatch({ folder, jobDefinitions: program(folder, 'new') });
  expect((await ended(waiting)).status).toBe('SUCCEEDED');
  expect(await orderIn(folder)).toEqual(['new hello-new new own']);
});

test('one whose definition the new version does not have fails, and says so', async () => {
  const folder = await temporaryFolder();
  const before = await startLocalBatch({ folder });
  const first = await holding(before, 'ada');
  await before.until(first, ({ status }) => status === 'RUNNING');
  const waiting = await before.submit(['/bin/true'], queue);
  await before.server.close({ grace: 0 });
  await writeFile(join(folder, 'go'), '');
  const others = jobDefinitions.filter(({ name }) => name !== 'once');
  const { ended } = await startLocalBatch({ folder, jobDefinitions: others });
  expect(await ended(waiting)).toMatchObject({
    status: 'FAILED',
    statusReason: 'Job definition once does not exist any more',
  });
});
