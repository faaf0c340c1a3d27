import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { LogLine } from '../../../../shared/data/jobs/job-log.ts';
import { ConditionFailedError } from '../../../../shared/data/table/write-label.ts';
import { LogShipper, type LogShipperOptions } from '../../../../shared/runner/telemetry/log-shipper.ts';
import { everySample, sampled } from '../../../support/samples.ts';

/** A shipper whose sink keeps the chunks, and what it reported. */
function bench(options: Partial<LogShipperOptions> = {}) {
  const chunks: { sequence: number; lines: readonly LogLine[] }[] = [];
  const events: unknown[] = [];
  const shipper = new LogShipper({
    sink: {
      append: async (sequence, lines) => {
        chunks.push({ sequence, lines });
      },
    },
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    maxBytes: 1e9,
    onLost: (error) => events.push(error),
    onLimit: () => events.push('limit'),
    ...options,
  });
  const lines = () => chunks.flatMap((chunk) => chunk.lines);
  const messages = () => lines().map(({ message }) => message);
  return { shipper, chunks, events, lines, messages };
}

const rowsBytes = (lines: readonly LogLine[]) =>
  Buffer.byteLength(
    JSON.stringify(lines.map(({ time, stream, message }) => [Date.parse(time), stream[0], message])),
  );

describe('a log that is shipped', () => {
  test('keeps the order, the streams and the time of arrival', async () => {
    const { shipper, lines } = bench();
    shipper.say('Attempt 1.\nOn node 0.');
    await shipper.output('stdout', Buffer.from('a\nno end'));
    await shipper.output('stderr', Buffer.from('b\r\n'));
    await shipper.close();
    const time = '2026-01-02T03:04:05.678Z';
    expect(lines()).toEqual([
      { time, stream: 'service', message: 'Attempt 1.' },
      { time, stream: 'service', message: 'On node 0.' },
      { time, stream: 'stdout', message: 'a' },
      { time, stream: 'stderr', message: 'b' },
      { time, stream: 'stdout', message: 'no end' },
    ]);
  });

  test('sends the first line at once and gathers those that follow', async () => {
    const { shipper, chunks } = bench({ flushMilliseconds: 3_600_000 });
    await shipper.output('stdout', Buffer.from('first\n'));
    await delay(1);
    expect(chunks).toHaveLength(1);
    for (let line = 0; line < 10; line += 1) {
      await shipper.output('stdout', Buffer.from(`${line}\n`));
      await delay(1);
    }
    expect(chunks).toHaveLength(1);
    await shipper.close();
    expect(chunks.map(({ sequence, lines }) => [sequence, lines.length])).toEqual([
      [0, 1],
      [1, 10],
    ]);
  });

  const kinds = [
    ['control characters', Buffer.alloc(65_536, 0x1b)],
    ['short lines', Buffer.from('\n'.repeat(65_536))],
    ['bytes that are not UTF-8', Buffer.alloc(65_536, 0xff)],
    ['text of three bytes a character', Buffer.from('語'.repeat(20_000))],
  ] as const;

  test.each(sampled(kinds, 4))('fits the table whatever it holds: %s', async (_, chunk) => {
    const { shipper, chunks } = bench();
    for (let round = 0; round < 8; round += 1) await shipper.output('stdout', chunk);
    await shipper.close();
    expect(chunks.length).toBeGreaterThan(1);
    expect(Math.max(...chunks.map(({ lines }) => rowsBytes(lines)))).toBeLessThan(256 * 1024 + 2);
    expect(chunks.map(({ sequence }) => sequence)).toEqual(chunks.map((_, index) => index));
  });

  test('makes the command wait for a slow sink, and holds little meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    const received: number[] = [];
    const append = async (_: number, lines: readonly LogLine[]) => {
      await gate.promise;
      received.push(lines.length);
    };
    const { shipper } = bench({ sink: { append } });
    let written = 0;
    const writer = (async () => {
      for (let round = 0; round < 100; round += 1) {
        written += 1;
        await shipper.output('stdout', Buffer.from('0123456\n'.repeat(8192)));
      }
    })();
    await delay(50);
    const heldBytes = written * 65_536;
    expect(heldBytes).toBeLessThan(4_000_000);
    gate.resolve();
    await writer;
    await shipper.close();
    expect(received.reduce((sum, count) => sum + count)).toBe(819_200);
  });

  test('is complete and in order when the sink fails now and then', async () => {
    const stored = new Map<number, readonly LogLine[]>();
    let calls = 0;
    const append = async (sequence: number, lines: readonly LogLine[]) => {
      calls += 1;
      // Some of what failed has been stored all the same: the answer was lost.
      if (calls % 3 === 0) stored.set(sequence, lines);
      if (calls % 3 !== 1) throw new Error('connection reset');
      stored.set(sequence, lines);
    };
    const { shipper, events } = bench({ sink: { append }, flushMilliseconds: 1 });
    const all = Array.from({ length: 30_000 }, (_, index) => `line ${index}`);
    await shipper.output('stdout', Buffer.from(all.join('\n')));
    await shipper.close();
    expect([...stored.keys()]).toEqual([...stored.keys()].map((_, index) => index));
    expect([...stored.values()].flat().map(({ message }) => message)).toEqual(all);
    expect(events).toEqual([]);
  });

  test('stops for good when the lease is lost, and never makes the command wait again', async () => {
    const append = async () => {
      throw new ConditionFailedError();
    };
    const { shipper, events } = bench({ sink: { append } });
    for (let round = 0; round < 100; round += 1)
      await shipper.output('stdout', Buffer.from('0123456\n'.repeat(8192)));
    shipper.say('nobody hears');
    await shipper.close();
    expect(events).toEqual([new ConditionFailedError()]);
  });

  test('says when it has reached its limit, once, and still takes what the service says', async () => {
    const { shipper, events, messages } = bench({ maxBytes: 20 });
    for (let round = 0; round < 5; round += 1) await shipper.output('stdout', Buffer.from('123456789\n'));
    shipper.say('The end.');
    await shipper.close();
    expect(messages()).toEqual([
      '123456789',
      '123456789',
      'The log has reached its limit of 20 bytes; later output of the command is not kept.',
      'The end.',
    ]);
    expect(events).toEqual(['limit']);
  });

  test.runIf(everySample)('of 200,000 lines is complete', async () => {
    let received = 0;
    const append = async (_: number, lines: readonly LogLine[]) => {
      for (const { message } of lines) {
        if (message !== `line ${received}`) throw new ConditionFailedError();
        received += 1;
      }
    };
    const { shipper, events } = bench({ sink: { append } });
    for (let next = 0; next < 200_000; next += 5000) {
      const lines = Array.from({ length: 5000 }, (_, index) => `line ${next + index}\n`);
      await shipper.output('stdout', Buffer.from(lines.join('')));
    }
    await shipper.close();
    expect({ received, events }).toEqual({ received: 200_000, events: [] });
  });
});

describe('a log that nobody reads', () => {
  test('is gathered until somebody does, and shipped whole at its end', async () => {
    let watched = false;
    const { shipper, chunks, messages } = bench({
      flushMilliseconds: 1,
      unwatchedMilliseconds: 3_600_000,
      isWatched: async () => watched,
    });
    await shipper.output('stdout', Buffer.from('first\n'));
    await delay(5);
    await shipper.output('stdout', Buffer.from('second\n'));
    await delay(20);
    await shipper.output('stdout', Buffer.from('third\n'));
    expect(chunks).toHaveLength(1);
    watched = true;
    while (chunks.length < 2) await delay(10);
    expect(messages()).toEqual(['first', 'second', 'third']);
    watched = false;
    await shipper.output('stdout', Buffer.from('fourth\n'));
    await shipper.output('stdout', Buffer.from('fifth\n'));
    await shipper.close();
    expect(messages()).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
  });

  test('is shipped at its own pace', async () => {
    const { shipper, chunks, messages } = bench({
      flushMilliseconds: 1,
      unwatchedMilliseconds: 30,
      isWatched: async () => false,
    });
    await shipper.output('stdout', Buffer.from('first\n'));
    await delay(5);
    await shipper.output('stdout', Buffer.from('second\n'));
    while (chunks.length < 2) await delay(10);
    expect(messages()).toEqual(['first', 'second']);
    await shipper.close();
  });
});
