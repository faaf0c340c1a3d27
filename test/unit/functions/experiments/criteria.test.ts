import { describe, expect, test } from 'vitest';
import { criteria, criterionForTask } from '../../../../functions/experiments/criteria.ts';

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
    expect(criterionForTask(task)).toEqual({ name, goal });
  });

  test.each(['', 'protein-folding', '__proto__', 'constructor', 'toString'])(
    'unknown task %j is judged by its loss',
    (task) => {
      expect(criterionForTask(task)).toEqual({ name: 'loss', goal: 'minimize' });
    },
  );

  test('the catalogue has each name once, in the form of a metric, and each task in its normal form', () => {
    const names = criteria.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
    const tasks = criteria.flatMap((criterion) => criterion.tasks);
    expect(tasks.filter((task) => !/^[a-z]+(-[a-z]+)*$/.test(task))).toEqual([]);
    for (const { tasks } of criteria) expect(new Set(tasks).size).toBe(tasks.length);
  });
});
