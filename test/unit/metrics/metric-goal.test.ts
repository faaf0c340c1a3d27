import { describe, expect, test } from 'vitest';
import { metricGoal } from '../../../shared/metrics/criteria.ts';

describe('which value of a metric is best', () => {
  test.each([
    ['loss', 'minimize'],
    ['train/loss', 'minimize'],
    ['val_loss', 'minimize'],
    ['loss.val', 'minimize'],
    ['eval/box_loss', 'minimize'],
    ['top1_err', 'minimize'],
    ['latency', 'minimize'],
    ['accuracy', 'maximize'],
    ['train_acc', 'maximize'],
    ['Valid/F1_Score', 'maximize'],
    ['test/roc_auc', 'maximize'],
  ] as const)('of %s is known by its name: %s', (name, goal) => {
    expect(metricGoal(name, undefined)).toBe(goal);
  });

  test.each(['lr', 'epoch', 'step', 'loss_scale', 'learning_rate', 'constructor', 'gpu/memory'])(
    'of %s nobody knows',
    (name) => {
      expect(metricGoal(name, undefined)).toBeUndefined();
    },
  );

  test('is what the project says of its own criterion, whatever the name usually means', () => {
    expect(metricGoal('val/latency', { name: 'val/latency', goal: 'maximize' })).toBe('maximize');
    expect(metricGoal('reward', { name: 'reward', goal: 'minimize' })).toBe('minimize');
    expect(metricGoal('val_f1', { name: 'f1', goal: 'maximize' })).toBe('maximize');
  });
});
