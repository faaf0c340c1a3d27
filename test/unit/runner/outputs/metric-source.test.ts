import { describe, expect, test } from 'vitest';
import { MetricSource } from '../../../../shared/runner/outputs/metric-source.ts';

describe('the source of metrics', () => {
  const source = () => new MetricSource(() => undefined);

  test('is the program where it reports some, before or later', () => {
    const one = source();
    expect(one.claim('log', 20_000)).toBe('now');
    one.report();
    expect(one.claim('log', 20_000)).toBe('never');
  });

  test('is the first that has waited for the program, and no other', () => {
    const one = source();
    expect(one.claim('csv', 9_000)).toBe('later');
    expect(one.claim('tensorboard', 10_000)).toBe('now');
    expect([one.claim('csv', 11_000), one.claim('log', 90_000)]).toEqual(['never', 'not these']);
  });

  test('is the log only later while a file may hold metrics', () => {
    const one = source();
    one.expectFiles();
    expect([one.claim('log', 149_000), one.claim('tensorboard', 3_000)]).toEqual(['later', 'later']);
    expect(one.claim('log', 150_000)).toBe('now');
    expect(one.claim('summary', Number.POSITIVE_INFINITY)).toBe('now');
  });

  test('is the log of a search, and no file of its trials', () => {
    const one = source();
    one.expectFiles();
    one.hearTrial();
    expect(one.claim('tensorboard', 20_000)).toBe('never');
    expect([one.claim('log', 9_000), one.claim('log', 10_000)]).toEqual(['later', 'now']);
  });

  test('is the log of a search besides a file that counted before its first trial ended', () => {
    const one = source();
    expect(one.claim('tensorboard', 10_000)).toBe('now');
    expect(one.claim('log', 0)).toBe('not these');
    one.hearTrial();
    expect([one.claim('log', 0), one.claim('tensorboard', 30_000)]).toEqual(['now', 'now']);
  });

  test('is the log, and one kind of file that comes later with names that the log does not have', () => {
    const found: string[] = [];
    const one = new MetricSource((source) => found.push(source));
    expect([one.claim('log', 10_000), one.owns('log', 'loss')]).toEqual(['now', true]);
    expect([one.claim('csv', 9_000), one.claim('csv', 10_000)]).toEqual(['later', 'now']);
    expect([one.claim('tensorboard', 20_000), one.claim('log', 0)]).toEqual(['never', 'now']);
    expect([one.owns('csv', 'loss'), one.owns('csv', 'eval_top1'), one.owns('log', 'eval_top1')]).toEqual([
      ...[false, true, false],
    ]);
    expect(found).toEqual(['log', 'csv']);
  });
});
