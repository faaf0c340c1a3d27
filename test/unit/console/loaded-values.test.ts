import { describe, expect, test } from 'vitest';
import {
  fieldsOnly,
  isHeavy,
  isLoaded,
  partOfRequest,
  rowFrom,
  valueOfColumn,
  valuesOfFilter,
  withOnly,
  withValues,
} from '../../../functions/console/app/experiments/loaded-values.ts';
import type { Row } from '../../../functions/console/app/runs/row.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { fieldsParameter, maskOfFields } from '../../../shared/http/fields-mask/fields-parameter.ts';

const row = (values: Partial<Row>): Row =>
  ({ experiment_id: 'a', params: {}, tags: {}, metrics: {}, ...values }) as Row;

describe('the values of a heavy table', () => {
  test('are asked for by names that the service reads as they are', () => {
    const values = [
      'params.lr',
      'params.a,b',
      'tags.`x` y',
      'metrics.val/loss',
      'metrics.a.b:c',
      'params. z',
    ];
    const fields = fieldsOnly(values);

    expect(fieldsParameter(ExperimentAnswer).safeParse(fields).success).toBe(true);
    const mask = maskOfFields({ fields });
    expect(mask?.get('params')).toEqual(new Map(['lr', 'a,b', ' z'].map((name) => [name, true])));
    expect(mask?.get('tags')).toEqual(new Map([['`x` y', true]]));
    expect(mask?.get('metrics')).toEqual(new Map(['val/loss', 'a.b:c'].map((name) => [name, true])));
  });

  test('are those of columns, whatever a metric is called', () => {
    expect(['metrics.a:b:max', 'metrics.loss', 'params.x:y', 'best', 'course'].map(valueOfColumn)).toEqual([
      'metrics.a:b',
      'metrics.loss',
      'params.x:y',
      undefined,
      undefined,
    ]);
  });

  test('that a filter may name are loaded, and all texts for a word that names nothing', () => {
    const names = { params: ['lr', 'a'], tags: ['team'], metrics: ['val/loss'], varying: [] };

    expect(valuesOfFilter('LR < 1 and val/loss > 2', names, false)).toEqual([
      'params.lr',
      'params.a',
      'metrics.val/loss',
    ]);
    expect(valuesOfFilter('lion val/loss < 3', names, true)).toEqual(['params', 'tags', 'metrics.val/loss']);
    expect(isLoaded(new Set(['params']), 'params.lr')).toBe(true);
    expect(isLoaded(new Set(['params.l']), 'params.lr')).toBe(false);
  });

  test('come into the rows, where what was read later stays', () => {
    const first = withOnly(
      row({ params: { lr: '1', b: '2' }, tags: { t: 'x' } }),
      new Set(['params.lr', 'tags']),
    );
    expect(first).toMatchObject({ params: { lr: '1' }, tags: { t: 'x' } });
    const [both, other] = withValues(
      [first, row({ experiment_id: 'b' })],
      [rowFrom({ experiment_id: 'a', params: { lr: 'old', b: '2' } } as never)],
    );
    expect(both?.params).toEqual({ lr: '1', b: '2' });
    expect(other?.params).toEqual({});
  });

  test('are heavy by their size, of many names or of long texts, and fit into addresses part by part', () => {
    const wide = row({
      params: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, '0.5'])),
    });
    const long = row({ params: { prompt: 'x'.repeat(5_000) } });
    expect([isHeavy([wide], 10_000), isHeavy([long], 10_000)]).toEqual([true, true]);
    expect([isHeavy([wide], 100), isHeavy([row({ params: { lr: '1' } })], 10_000)]).toEqual([false, false]);
    const values = Array.from({ length: 200 }, (_, at) => `metrics.validation/class ${at}/precision`);
    const part = partOfRequest(values);
    expect(part.length).toBeLessThan(values.length);
    expect(encodeURIComponent(fieldsOnly(part)).length).toBeLessThan(5_000);
    expect(partOfRequest([`params.${'é'.repeat(2_000)}`])).toHaveLength(1);
  });
});
