import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { RowShipper } from '../../../../shared/runner/telemetry/row-shipper.ts';

const hour = 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A shipper that sends a chunk an hour, with a row that waits, and what it stored and lost itself. */
async function bench() {
  let time = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  const chunks: { sequence: number; rows: readonly string[] }[] = [];
  const lost: unknown[] = [];
  const shipper = new RowShipper<string>({
    append: async (sequence, rows) => void chunks.push({ sequence, rows }),
    flushMilliseconds: 1,
    unwatchedMilliseconds: hour,
    isWatched: async () => false,
    maxRows: 1000,
    onLost: (error) => lost.push(error),
  });
  shipper.add('first', 10);
  await delay(1);
  shipper.add('second', 10);
  await delay(1);
  return {
    ...{ shipper, chunks, lost },
    pass(milliseconds: number) {
      time += milliseconds;
    },
  };
}

test('rows that have waited for half of their pause ride with another write, and the next chunk follows them', async () => {
  const { shipper, chunks, pass } = await bench();
  pass(hour / 2);

  const ride = shipper.ride();
  ride?.stored();
  shipper.add('third', 10);
  await shipper.close();

  expect(ride).toMatchObject({ sequence: 1, rows: ['second'] });
  expect(chunks).toEqual([
    { sequence: 0, rows: ['first'] },
    { sequence: 2, rows: ['third'] },
  ]);
});

test('rows that have waited for less stay', async () => {
  const { shipper, chunks, pass } = await bench();
  pass(hour / 2 - 1);

  const ride = shipper.ride();
  await shipper.close();

  expect(ride).toBeUndefined();
  expect(chunks.map(({ rows }) => rows)).toEqual([['first'], ['second']]);
});

test('no chunk and no second ride is under way while rows ride', async () => {
  const { shipper, chunks, pass } = await bench();
  pass(hour / 2);
  const ride = shipper.ride();
  shipper.add('third', 10);
  pass(hour);

  const second = shipper.ride();
  const closed = shipper.close();
  await delay(5);
  const stored = chunks.length;
  ride?.stored();
  await closed;

  expect(second).toBeUndefined();
  expect(stored).toBe(1);
  expect(chunks.at(-1)).toEqual({ sequence: 2, rows: ['third'] });
});

test('rows whose ride fails for good are lost, as those of a chunk of their own', async () => {
  const { shipper, chunks, lost, pass } = await bench();
  pass(hour / 2);

  shipper.ride()?.lost('the lease');
  shipper.add('later', 10);
  await shipper.close();

  expect(lost).toEqual(['the lease']);
  expect(chunks.map(({ rows }) => rows)).toEqual([['first']]);
});
