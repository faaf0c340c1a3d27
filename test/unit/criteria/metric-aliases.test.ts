import { describe, expect, test } from 'vitest';
import { metricRank } from '../../../shared/criteria/metric-aliases.ts';

describe('a reported metric stands for a criterion', () => {
  test.each([
    ['val_acc', 'accuracy', 0],
    ['val_accuracy', 'accuracy', 0],
    ['valid/acc', 'accuracy', 0],
    ['Validation Accuracy', 'accuracy', 0],
    ['validation_0-auc', 'roc_auc', 0],
    ['valid_1.rmse', 'rmse', 0],
    ['eval_loss', 'loss', 0],
    ['eval/top1', 'accuracy', 0],
    ['val_sparse_categorical_accuracy', 'accuracy', 0],
    ['metrics/mAP50-95(B)', 'map', undefined],
    ['metrics/mAP50-95', 'map', 1],
    ['acc', 'accuracy', 1],
    ['F1-Score', 'f1', 1],
    ['loss', 'loss', 1],
    ['test_acc', 'accuracy', 2],
    ['train_acc', 'accuracy', undefined],
    ['train/loss', 'loss', undefined],
    ['val_loss', 'accuracy', undefined],
    ['lr', 'loss', undefined],
    ['', 'loss', undefined],
    ['val', 'loss', undefined],
    ['__proto__', 'loss', undefined],
    ['constructor', 'loss', undefined],
  ])('%s for %s: %s', (reported, name, rank) => {
    expect(metricRank(reported, { name })).toBe(rank);
  });

  test('one that a project named counts under just its name', () => {
    const criterion = { name: 'Val/Latency', own: true };
    expect(metricRank('Val/Latency', criterion)).toBe(0);
    expect(metricRank('val_latency', criterion)).toBeUndefined();
  });
});
