import { describe, expect, test } from 'vitest';
import { isOfTraining, metricRank } from '../../../shared/metrics/metric-aliases.ts';

/** The names in the order in which they stand for a criterion, without those that do not. */
const ordered = (names: readonly string[], criterion: string): string[] =>
  names
    .map((name) => ({ name, rank: metricRank(name, criterion) }))
    .filter((one): one is { name: string; rank: number } => one.rank !== undefined)
    .sort((one, other) => one.rank - other.rank)
    .map(({ name }) => name);

describe('a reported metric stands for a criterion', () => {
  test.each([
    ['accuracy', 'val_acc'],
    ['accuracy', 'val_accuracy'],
    ['accuracy', 'valid/acc'],
    ['accuracy', 'Validation Accuracy'],
    ['accuracy', 'eval_accuracy'],
    ['accuracy', 'eval/top1'],
    ['accuracy', 'val_sparse_categorical_accuracy'],
    ['accuracy', 'acc.val'],
    ['accuracy', 'valAcc'],
    ['accuracy', 'evaluation_accuracy'],
    ['roc_auc', 'validation_0-auc'],
    ['rmse', 'valid_1.rmse'],
    ['loss', 'eval_loss'],
    ['loss', 'val/loss'],
    ['loss', 'loss/val'],
    ['loss', 'loss.val'],
    ['loss', 'valid_loss'],
    ['loss', 'validation/loss'],
    ['loss', 'VAL-LOSS'],
    ['loss', 'valloss'],
    ['loss', 'val_loss_epoch'],
    ['loss', 'val_loss/dataloader_idx_0'],
    ['loss', 'epoch_val_loss'],
  ])('%s: %s, on validation data', (criterion, name) => {
    expect(ordered([criterion, `test_${criterion}`, name], criterion)[0]).toBe(name);
  });

  test.each([
    ['map', 'metrics/mAP50-95'],
    ['accuracy', 'accuracy/top1'],
    ['map', 'coco/bbox_mAP'],
    ['map', 'bbox/AP'],
    ['map', 'metrics/mAP50-95(B)'],
    ['accuracy', 'acc'],
    ['f1', 'F1-Score'],
    ['loss', 'loss'],
    ['loss', 'total-loss'],
  ])('%s: %s, which does not say on which data', (criterion, name) => {
    const around = [`val_${criterion}`, `test_${criterion}`, name, `train_${criterion}`];
    expect(ordered(around.toReversed(), criterion)).toEqual(around);
  });

  test.each([
    ['metrics/mAP50(B)', 'map'],
    ['val_loss', 'accuracy'],
    ['val/box_loss', 'loss'],
    ['lr', 'loss'],
    ['epoch', 'loss'],
    ['', 'loss'],
    ['val', 'loss'],
    ['__proto__', 'loss'],
    ['constructor', 'loss'],
    ['latency', 'val/latency'],
    ['train/latency', 'val/latency'],
  ])('%s does not for %s', (name, criterion) => {
    expect(metricRank(name, criterion)).toBeUndefined();
  });

  test('those of training data come last, and say so', () => {
    expect(ordered(['train/loss', 'loss_train_step', 'training_loss'], 'loss')).toHaveLength(3);
    expect(
      ['train/loss', 'trainLoss', 'loss.train', 'loss', 'val_loss', 'test_loss'].map((name) =>
        isOfTraining(metricRank(name, 'loss') ?? -1),
      ),
    ).toEqual([true, true, true, false, false, false]);
  });

  test('the mean of an epoch comes before the values of its steps', () => {
    expect(ordered(['train_loss_step', 'train_loss_epoch'], 'loss')).toEqual([
      'train_loss_epoch',
      'train_loss_step',
    ]);
  });

  test('a criterion that names its data is met by those data alone, however they are written', () => {
    const names = ['loss', 'val_loss', 'eval/loss', 'train_loss', 'loss.train'];
    expect(ordered(names, 'val/loss')).toEqual(['val_loss', 'eval/loss']);
    expect(ordered(names, 'train/loss')).toEqual(['train_loss', 'loss.train']);
  });

  test('a name that somebody chose among those that were reported comes first', () => {
    expect(ordered(['val_latency', 'Latency', 'latency'], 'latency')).toEqual([
      'latency',
      'val_latency',
      'Latency',
    ]);
    expect(ordered(['val_acc', 'acc', 'accuracy'], 'acc')[0]).toBe('acc');
    expect(ordered(['val/loss', 'val_loss'], 'val_loss')[0]).toBe('val_loss');
  });
});
