import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { uploadSeconds } from '../../../shared/aws/upload-seconds.ts';
import { artifactKey, artifactObject } from '../../../shared/data/experiments/artifact.ts';
import { experimentPrefix } from '../../../shared/data/experiments/experiment.ts';
import { listPurges, type Purge, recordPurge } from '../../../shared/data/projects/purge.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { runPurge } from '../../../shared/purge/run-purge.ts';
import { testBucket } from '../../support/emulators.ts';
import { testService } from '../../support/service.ts';

const always = () => true;
const longAgo = () => new Date(Date.now() - (uploadSeconds + 1) * 1000).toISOString();

/** Time enough for so many questions. */
function times(count: number): () => boolean {
  let left = count;
  return () => left-- > 0;
}

describe('purge', () => {
  let records: TableWriter<'records'>;
  let objects: ObjectWriter;

  beforeAll(async () => {
    const service = await testService();
    records = service.records;
    objects = objectWriter(s3(service.environment), testBucket);
  });

  async function fill(pk: string, prefix: string, count: number): Promise<void> {
    for (let start = 0; start < count; start += 100) {
      const length = Math.min(100, count - start);
      const writes = Array.from({ length }, (_, index) => {
        const sk = `${prefix}${String(start + index).padStart(5, '0')}`;
        return { put: { pk, sk, record_type: 'filler', schema_version: 0 } };
      });
      await records.write(...writes);
    }
  }

  async function store(prefix: string, count: number): Promise<void> {
    const indexes = Array.from({ length: count }, (_, index) => index);
    while (indexes.length > 0) {
      const some = indexes.splice(0, 100);
      await Promise.all(some.map((index) => objects.put(`${prefix}${index}`, Buffer.of(1), 'text/plain')));
    }
  }

  async function items(pk: string): Promise<number> {
    let found = 0;
    let after: string | undefined;
    do {
      const page = await records.query({ pk, after });
      found += page.items.length;
      after = page.next;
    } while (after !== undefined);
    return found;
  }

  async function stored(prefix: string): Promise<number> {
    let found = 0;
    let after: string | undefined;
    do {
      const page = await objects.list(prefix, after);
      found += page.objects.length;
      after = page.next;
    } while (after !== undefined);
    return found;
  }

  const pending = async ({ purge_id }: Purge) =>
    (await listPurges(records, undefined)).items.some((one) => one.purge_id === purge_id);

  /** A purge on record of one whole partition, a part of another, and a prefix; each has a neighbour. */
  async function prepared(size: { items: number; objects: number }, created_at = longAgo()) {
    const id = ulid().toLowerCase();
    const [whole, part, prefix] = [`WHOLE#${id}`, `PART#${id}`, `${id}/projects/a/`];
    await Promise.all([
      fill(whole, '', size.items),
      fill(part, 'a#', size.items),
      fill(part, 'a.', 3),
      fill(`${whole}2`, '', 3),
      store(prefix, size.objects),
      store(`${id}/projects/ab/`, 3),
    ]);
    const target = { partitions: [{ pk: whole }, { pk: part, prefix: 'a#' }], prefixes: [prefix] };
    const purge: Purge = { purge_id: id, created_at, again_at: null, target };
    await records.write(recordPurge(purge));
    const left = async () => ({
      whole: await items(whole),
      part: await items(part),
      objects: await stored(prefix),
      neighbours: (await items(`${whole}2`)) + (await stored(`${id}/projects/ab/`)),
    });
    return { purge, left };
  }

  const gone = { whole: 0, part: 3, objects: 0, neighbours: 6 };

  test('removes 600 items and 1,200 objects, and nothing of their neighbours', async () => {
    const { purge, left } = await prepared({ items: 300, objects: 1200 });
    expect(await left()).toEqual({ whole: 300, part: 303, objects: 1200, neighbours: 6 });
    expect(await runPurge(records, objects, purge, always)).toBe(true);
    expect(await left()).toEqual(gone);
    expect(await pending(purge)).toBe(false);
    expect(await runPurge(records, objects, purge, always)).toBe(true);
  });

  test('removes what a job left, and neither the files that it recorded nor the texts of its data sets', async () => {
    const [project_id, job_id] = [ulid().toLowerCase(), ulid().toLowerCase()];
    const prefix = experimentPrefix(project_id, job_id);
    for (const folder of ['artifacts', 'checkpoints', 'dataset-texts']) await store(`${prefix}${folder}/`, 2);
    const object = artifactObject(project_id, job_id, '0');
    await records.write({
      put: {
        ...artifactKey(job_id, 'model.bin', 'artifact'),
        record_type: 'filler',
        schema_version: 0,
        object,
      },
    });
    const target = { partitions: [], prefixes: [], leftovers: { job_id, prefix } };
    const purge: Purge = { purge_id: job_id, created_at: longAgo(), again_at: null, target };
    await records.write(recordPurge(purge));

    expect(await runPurge(records, objects, purge, always)).toBe(true);

    const left = (await objects.list(prefix)).objects.map(({ key }) => key.slice(prefix.length));
    expect(left).toEqual(['artifacts/0', 'dataset-texts/0', 'dataset-texts/1']);
  });

  test('stops when time runs out, at whatever point, and goes on later', async () => {
    const { purge, left } = await prepared({ items: 60, objects: 30 });
    expect(await runPurge(records, objects, purge, times(0))).toBe(false);
    expect((await left()).whole).toBe(60);
    expect(await runPurge(records, objects, purge, times(2))).toBe(false);
    expect((await left()).whole).toBe(10);
    let runs = 0;
    for (let time = 1; !(await runPurge(records, objects, purge, times(time))); time += 1) {
      runs += 1;
      expect(await pending(purge)).toBe(true);
    }
    expect(runs).toBeGreaterThan(1);
    expect(await left()).toEqual(gone);
    expect(await pending(purge)).toBe(false);
  });

  test('survives a store that fails half-way', async () => {
    const { purge, left } = await prepared({ items: 30, objects: 30 });
    const failing = { ...objects, delete: () => Promise.reject(new Error('out of order')) };
    await expect(runPurge(records, failing, purge, always)).rejects.toThrow('out of order');
    expect(await pending(purge)).toBe(true);
    expect(await runPurge(records, objects, purge, always)).toBe(true);
    expect(await left()).toEqual(gone);
  });

  test('two at once do no harm', async () => {
    const { purge, left } = await prepared({ items: 120, objects: 50 });
    const runs = [1, 2, 3].map(() => runPurge(records, objects, purge, always));
    expect(await Promise.all(runs)).toEqual([true, true, true]);
    expect(await left()).toEqual(gone);
    expect(await pending(purge)).toBe(false);
  });

  test('looks again for what came while it ran', async () => {
    const { purge, left } = await prepared({ items: 5, objects: 5 });
    const [{ pk }] = purge.target.partitions as [{ pk: string }];
    let late = true;
    const racing: ObjectWriter = {
      ...objects,
      async delete(keys) {
        if (late) await fill(pk, 'late', 4);
        late = false;
        await objects.delete(keys);
      },
    };
    expect(await runPurge(records, racing, purge, always)).toBe(true);
    expect(await left()).toEqual(gone);
  });

  test('is kept while upload URLs from before it can bring objects back', async () => {
    const { purge, left } = await prepared({ items: 3, objects: 3 }, new Date().toISOString());
    expect(await runPurge(records, objects, purge, always)).toBe(true);
    expect(await left()).toEqual(gone);
    expect(await pending(purge)).toBe(true);
    await store(purge.target.prefixes[0] ?? '', 2);
    expect(await runPurge(records, objects, { ...purge, created_at: longAgo() }, always)).toBe(true);
    expect(await left()).toEqual(gone);
    expect(await pending(purge)).toBe(false);
  });

  test('does what comes before it first, and waits for it', async () => {
    const { purge, left } = await prepared({ items: 3, objects: 3 });
    const steps: string[] = [];
    const inFront =
      (ready: boolean) =>
      async ({ purge_id }: Purge) => {
        steps.push(purge_id);
        return ready;
      };
    expect(await runPurge(records, objects, purge, always, inFront(false))).toBe(false);
    expect((await left()).whole).toBe(3);
    expect(await runPurge(records, objects, purge, always, inFront(true))).toBe(true);
    expect(steps).toEqual([purge.purge_id, purge.purge_id]);
    expect(await left()).toEqual(gone);
  });
});
