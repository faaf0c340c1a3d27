import { describe, expect, test } from 'vitest';
import {
  criteria,
  criterionOf,
  criterionOfMetrics,
  goalInCatalogue,
} from '../../../shared/metrics/criteria.ts';
import { metricRank } from '../../../shared/metrics/metric-aliases.ts';

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
    expect(criterionOf({ project_task: task })).toEqual({ name, goal, source: 'task' });
  });

  test.each(['', 'protein-folding', '__proto__', 'constructor', 'toString'])(
    'unknown task %j is judged by what its first run reports, and by its loss until then',
    (task) => {
      expect(criterionOf({ project_task: task })).toEqual({
        name: 'loss',
        goal: 'minimize',
        source: 'default',
      });
      const first = { name: 'accuracy', goal: 'maximize' } as const;
      expect(criterionOf({ project_task: task }, first)).toEqual({ ...first, source: 'first-run' });
      expect(criterionOf({ project_task: 'regression' }, first)).toMatchObject({
        name: 'rmse',
        source: 'task',
      });
    },
  );

  test('a project names its own, before its task', () => {
    const criterion = { name: 'val/latency', goal: 'minimize' } as const;
    expect(criterionOf({ project_task: 'classification', criterion })).toEqual({
      ...criterion,
      source: 'project',
    });
  });

  test('the direction of a metric is known by all its names', () => {
    expect(['accuracy', 'val_acc', 'loss/val', 'eval_rmse', 'latency'].map(goalInCatalogue)).toEqual([
      'maximize',
      'maximize',
      'minimize',
      'minimize',
      undefined,
    ]);
  });

  test.each([
    [['loss', 'accuracy', 'lr'], 'accuracy', 'maximize'],
    [['val_loss'], 'loss', 'minimize'],
    [['epoch', 'lr', 'train/loss'], 'loss', 'minimize'],
    [['train_accuracy', 'val_loss'], 'loss', 'minimize'],
    [['train_accuracy', 'train_loss'], 'accuracy', 'maximize'],
    [['eval/f1', 'eval_loss', 'eval_runtime'], 'f1', 'maximize'],
    [['rmse', 'mae'], 'rmse', 'minimize'],
    [['lr', 'test_error'], 'test_error', 'minimize'],
    [['my-score', 'epoch'], 'my-score', 'maximize'],
  ])('a run that reports %j makes a project be judged by %s', (names, name, goal) => {
    expect(criterionOfMetrics(names)).toEqual({ name, goal });
    expect(criterionOfMetrics(names.toReversed())).toEqual({ name, goal });
  });

  test('a run without a measure of success decides nothing', () => {
    expect(criterionOfMetrics(['lr', 'epoch', 'grad_norm'])).toBeUndefined();
  });

  test('each of the catalogue is known by its own name, of validation, test, unsaid and training data in this order', () => {
    for (const { name } of criteria) {
      const ranks = [`val_${name}`, `test/${name}`, name, `${name}.train`].map((one) =>
        metricRank(one, name),
      );
      expect([name, ...ranks]).toEqual([name, 0, 10, 20, 30]);
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
