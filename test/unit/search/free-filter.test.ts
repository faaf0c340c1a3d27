import { describe, expect, test } from 'vitest';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { secondsOf, timeSpan } from '../../../shared/search/time-words.ts';
import { freeVocabulary, type Row, row } from './rows.ts';

/** A Thursday. */
const now = new Date(2026, 2, 12, 15, 30);
const daysAgo = (days: number) => new Date(2026, 2, 12 - days, 9).getTime();

const rows = [
  row('a', {
    name: 'wide run',
    created: daysAgo(0),
    params: { lr: '0.01', optimizer: 'adam', device: 'cuda:0' },
    metrics: { 'val/loss': 0.2, 'val loss': 0.2 },
  }),
  row('b', {
    name: 'deep',
    created: daysAgo(1),
    params: { lr: '0.0001', optimizer: 'lion' },
    metrics: { 'val/loss': 0.4 },
    tags: { team: 'vision' },
  }),
  row('c', {
    name: 'yesterday',
    created: daysAgo(20),
    params: { lr: '0.1', optimizer: 'sgd' },
    metrics: { 'val/loss': 0.9 },
  }),
];
const found = (filter: string, given: Row[] = rows): string =>
  given
    .filter(parseFilter(filter, freeVocabulary(now)).matches)
    .map(({ id }) => id)
    .join('');

describe('a filter that somebody types', () => {
  test.each([
    ['lr < 0.001 or optimizer = sgd', 'bc'],
    ['lr < 0.001 OR lr > 0.05', 'bc'],
    ['optimizer in (lion, sgd)', 'bc'],
    ['optimizer not in (lion)', 'ac'],
    ['lr between 0.001 and 0.05', 'a'],
    ['(lr > 0.05 or optimizer = lion) and val/loss < 0.5', 'b'],
    ['(lr > 0.05 or optimizer = lion) val/loss < 0.5', 'b'],
    ['metrics.`val loss` < 1', 'a'],
    ['`val loss` < 1', 'a'],
    ['not lion', 'ac'],
    ['adam or lion', 'ab'],
    ['adam, 0.01', 'a'],
    ["'wide run'", 'a'],
    ['team is not set', 'ac'],
    ['team is set', 'b'],
    ['optimizer ~ ^(adam|lion)$', 'ab'],
    ["optimizer !~ 'a'", 'bc'],
    ['optimizer~ion', 'b'],
    ['name:deep', 'b'],
    ['cuda:0', 'a'],
    ['Name = deep', 'b'],
    ['today', 'a'],
    ['yesterday', 'bc'],
    ['created_at > yesterday', 'ab'],
    ['created_at = yesterday', 'b'],
    ['created_at < yesterday', 'c'],
    ['created_at <= yesterday', 'bc'],
    ['created_at > 7 days ago', 'ab'],
    ['created_at > last week and not today', 'b'],
    ['created_at >= last 30 days', 'abc'],
    ['created_at between 30 days ago and 2 days ago', 'c'],
    ['this month', 'ab'],
    ['created_at > 2026-03-01', 'ab'],
  ])('%s', (filter, ids) => {
    expect(found(filter)).toBe(ids);
  });

  test('finds values that are no finite numbers', () => {
    const odd = [
      row('a', { metrics: { loss: Number.NaN }, params: { lr: 'inf' } }),
      row('b', { metrics: { loss: Infinity }, params: { lr: '1' } }),
      row('c', { metrics: { loss: -Infinity } }),
      row('d', { metrics: { loss: 1 } }),
    ];
    const filters = ['loss = NaN', 'metrics.loss = nan', 'loss != nan', 'metrics.loss != NaN', 'loss = inf'];
    const more = [
      'metrics.loss = Infinity',
      'loss = -inf',
      'loss in (NaN, 1)',
      'metrics.loss in (nan, inf)',
      'lr = inf',
    ];
    expect([...filters, ...more].map((filter) => found(filter, odd))).toEqual([
      ...['a', 'a', 'bcd', 'bcd', 'b'],
      ...['b', 'c', 'ad', 'ab', 'a'],
    ]);
  });

  test.each([
    ['lr <', 'ends at position 5'],
    ['lr < fast', 'has fast at position 6, where a number is expected'],
    ['a and', 'ends at position 6'],
    ['lr between 1 or 2', 'has or at position 14, where AND is expected'],
    ['created_at > soon', 'has soon at position 14, where a time'],
    ['lr => 0.1', 'has > at position 5, where a text in quotes or a number is expected'],
    ['lr === 0.1', 'has = at position 6, where a text in quotes or a number is expected'],
    ['optimizer ~ (', 'where a regular expression'],
    ['optimizer in', 'ends at position 13, where ( is expected'],
  ])('names the word that it does not understand: %s', (filter, fault) => {
    expect(() => found(filter)).toThrow(fault);
  });

  test('tells its parts, so that a page can say which one no row meets', () => {
    const { parts } = parseFilter('lr = 0.01 lr = 0.1 (adam or lion)', freeVocabulary(now));

    expect(parts.map(({ text, matches }) => [text, rows.filter(matches).length])).toEqual([
      ['lr = 0.01', 1],
      ['lr = 0.1', 1],
      ['(adam or lion)', 2],
    ]);
  });
});

describe('a time in words', () => {
  const day = (month: number, date: number) => new Date(2026, month - 1, date).getTime();

  test.each([
    ['today', day(3, 12), day(3, 13)],
    ['this week', day(3, 9), day(3, 16)],
    ['this month', day(3, 1), day(4, 1)],
    ['this year', day(1, 1), new Date(2027, 0, 1).getTime()],
    ['3 days ago', day(3, 9), day(3, 10)],
    ['2 weeks ago', day(2, 26), day(2, 27)],
    ['2h ago', now.getTime() - 7_200_000, now.getTime() - 7_199_999],
    ['last 2 days', new Date(2026, 2, 10, 15, 30).getTime(), now.getTime() + 1],
  ])('%s', (words, from, to) => {
    expect(timeSpan(words, now)).toEqual({ from, to });
  });

  test.each([
    ['1 month ago', new Date(2026, 2, 31, 9), day(2, 28), day(3, 1)],
    ['3 months ago', new Date(2026, 4, 31, 9), day(2, 28), day(3, 1)],
    ['1 year ago', new Date(2028, 1, 29, 9), new Date(2027, 1, 28).getTime(), new Date(2027, 2, 1).getTime()],
    ['13 months ago', new Date(2027, 2, 31, 9), day(2, 28), day(3, 1)],
  ])('%s is in a month whose last day comes earlier', (words, at, from, to) => {
    expect(timeSpan(words, at)).toEqual({ from, to });
  });

  test.each([
    // Clocks in Auckland go back from 3:00 to 2:00 on 5 April 2026, at 14:00 UTC the day before.
    ['this hour', '2026-04-04T14:30:40Z', '2026-04-04T14:00:00Z', '2026-04-04T15:00:00Z'],
    ['this minute', '2026-04-04T14:30:40Z', '2026-04-04T14:30:00Z', '2026-04-04T14:31:00Z'],
    ['5 minutes ago', '2026-04-04T14:30:40Z', '2026-04-04T14:25:40Z', '2026-04-04T14:25:40.001Z'],
    ['today', '2026-04-04T14:30:40Z', '2026-04-04T11:00:00Z', '2026-04-05T12:00:00Z'],
  ])('%s is right in the hour that comes twice', (words, at, from, to) => {
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Pacific/Auckland';
    try {
      expect(timeSpan(words, new Date(at))).toEqual({ from: Date.parse(from), to: Date.parse(to) });
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  test.each([
    ['90s', 90],
    ['1.5h', 5400],
    ['1h 30m', 5400],
    ['2 days', 172_800],
    ['3 apples', undefined],
    ['', undefined],
  ])('a length of %s', (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds);
  });
});
