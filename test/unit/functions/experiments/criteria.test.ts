import { describe, expect, test } from 'vitest';
import { criteria, criterionOf } from '../../../../functions/experiments/criteria.ts';
import { metricRank } from '../../../../shared/criteria/metric-aliases.ts';

describe('criteria', () => {
  test.each([
    ['classification', 'accuracy', 'maximize'],
    ['Image Classification', 'accuracy', 'maximize'],
    ['named_entity_recognition', 'f1', 'maximize'],
    ['anomaly detection', 'f1', 'maximize'],
    ['regression', 'rmse', 'minimize'],
    ['time series_forecasting', 'mae', 'minimize'],
    [' OBJECT_DETECTION ', 'map', 'maximize'],
    ['semantic  segmentation', 'miou', 'maximize'],
    ['Translation', 'bleu', 'maximize'],
    ['summarization', 'rouge', 'maximize'],
    ['automatic-speech-recognition', 'wer', 'minimize'],
    ['ocr', 'cer', 'minimize'],
    ['language modeling', 'perplexity', 'minimize'],
    ['recommendation', 'ndcg', 'maximize'],
    ['reinforcement-learning', 'episode_return', 'maximize'],
  ])('%s is judged by %s', (task, name, goal) => {
    expect(criterionOf({ project_task: task })).toEqual({ name, goal });
  });

  test.each(['', 'protein-folding', '__proto__', 'constructor', 'toString'])(
    'unknown task %j is judged by its loss',
    (task) => {
      expect(criterionOf({ project_task: task })).toEqual({ name: 'loss', goal: 'minimize' });
    },
  );

  test('a project names its own: one of the catalogue has its other names, any other is just its own', () => {
    const named = (name: string, goal: 'maximize' | 'minimize') =>
      criterionOf({ project_task: 'classification', criterion: { name, goal } });
    expect(named('f1', 'maximize')).toEqual({ name: 'f1', goal: 'maximize' });
    expect(named('f1', 'minimize')).toEqual({ name: 'f1', goal: 'minimize', own: true });
    expect(named('val/latency', 'minimize')).toEqual({ name: 'val/latency', goal: 'minimize', own: true });
  });

  test('each of the catalogue is known by its own name, also of validation and test data', () => {
    for (const { name } of criteria) {
      const ranks = [`val_${name}`, name, `test/${name}`].map((one) => metricRank(one, { name }));
      expect([name, ...ranks]).toEqual([name, 0, 1, 2]);
    }
  });

  test('the catalogue has each name once, in the form of a metric, and each task in its normal form', () => {
    const names = criteria.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
    const tasks = criteria.flatMap((criterion) => criterion.tasks);
    expect(tasks.filter((task) => !/^[a-z]+(-[a-z]+)*$/.test(task))).toEqual([]);
    for (const { tasks } of criteria) expect(new Set(tasks).size).toBe(tasks.length);
  });
});
