import { describe, expect, test } from 'vitest';
import { readLog, recognized } from './recognized.ts';

describe('logs of programs that ran', () => {
  test('LightGBM', () => {
    const found = recognized(readLog('lightgbm.txt'));

    expect(found).toHaveLength(3);
    expect(found[0]).toBe(
      '2 training-auc=0.998132 training-binary_logloss=0.53062 valid_1-auc=0.9996 valid_1-binary_logloss=0.527018',
    );
  });

  test('XGBoost, also of its scikit-learn API, and SGDClassifier', () => {
    const found = recognized(readLog('xgboost.txt'));

    expect(found.slice(0, 1)).toEqual([
      '0 train-logloss=0.45392 train-auc=0.99698 eval-logloss=0.45051 eval-auc=1',
    ]);
    expect(found.slice(6, 9)).toEqual([
      '0 validation_0-rmse=0.35336',
      '1 validation_0-rmse=0.24905',
      '2 validation_0-rmse=0.17622',
    ]);
    expect(found).toHaveLength(9);
  });

  test('spaCy, with colours', () => {
    expect(recognized(readLog('spacy.txt'))).toEqual([
      '0 loss_textcat=0.25 cats_score=100 score=1',
      '20 loss_textcat=4.4 cats_score=100 score=1',
      '40 loss_textcat=3.36 cats_score=100 score=1',
      '60 loss_textcat=2.5 cats_score=100 score=1',
    ]);
  });

  test('DEAP, its logbook and the loop of its introduction', () => {
    const found = recognized(readLog('deap.txt'));

    expect(found.slice(0, 3)).toEqual([
      '0 avg=50.4933 std=5.33822 min=34 max=64',
      '1 avg=54.8333 std=4.34958 min=44 max=66',
      '2 avg=58.4567 std=3.45564 min=47 max=68',
    ]);
    expect(found.slice(3, 7)).toEqual([
      '1 min=44',
      '1 max=66',
      '1 avg=54.833333333333336',
      '1 std=4.349584909952722',
    ]);
    expect(found.slice(-1)).toEqual(['35 std=2.325536975028139']);
    expect(found).toHaveLength(15);
  });

  test('tqdm, whose bars rewrite themselves', () => {
    expect(recognized(readLog('tqdm.txt'))).toEqual(['0 acc=0.95 loss=0.05', '1 acc=0.95 loss=0.0476']);
  });
});

describe('lines as programs print them', () => {
  test.each([
    ['epoch 3: loss 0.2 acc 0.9', ['3 loss=0.2 acc=0.9']],
    ['step 100 | loss 1.2', ['100 loss=1.2']],
    ['step 250: train loss 1.2345, val loss 1.3456', ['250 train_loss=1.2345 val_loss=1.3456']],
    ['iter 100: loss 2.5432, time 103.32ms, mfu 1.25%', ['100 loss=2.5432']],
    ['iter_dt 12.30ms; iter 100: train loss 2.30000', ['100 train_loss=2.3']],
    ['Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.305400', ['1 loss=2.3054']],
    ['Epoch: 2, Train Loss: 0.5, Val Loss: 0.6, Val Acc: 0.7', ['2 train_loss=0.5 val_loss=0.6 val_acc=0.7']],
    ['Epoch [1/5], Step [100/600], Loss: 0.2345', ['1 loss=0.2345']],
    [
      'Epoch: [0][ 10/391]\tTime  0.10 ( 0.2)\tLoss 6.9e+00 (7.0e+00)\tAcc@1  3.12 (  2.1)',
      ['0 loss=6.9 train_acc1=3.12'],
    ],
    ['[Epoch 0/2] [Batch 3/10] [D loss: 0.693147] [G loss: 0.701]', ['0 d_loss=0.693147 g_loss=0.701']],
    ['Epoch 4: loss 0.2 (avg loss 0.25), policy loss 0.1', ['4 loss=0.2 avg_loss=0.25 policy_loss=0.1']],
    ['[1,  2000] loss: 2.198', ['1 loss=2.198']],
    [
      '| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 12.30 | loss  7.63 | ppl  2054.34',
      ['1 lr=20 loss=7.63 train_ppl=2054.34'],
    ],
    [
      '| end of epoch   1 | time: 55.32s | valid loss  5.91 | valid ppl   368.1',
      ['1 valid_loss=5.91 valid_ppl=368.1'],
    ],
    ['2024-01-01 10:00:00,123 - INFO - epoch 3 - loss: 0.25 - lr: 1e-3', ['3 loss=0.25 lr=0.001']],
    [
      "{'loss': 0.31, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 1.5}",
      ['1.5 loss=0.31 grad_norm=1.2 learning_rate=0.00005'],
    ],
    [
      "{'eval_loss': 0.3, 'eval_accuracy': 0.9, 'eval_runtime': 1.2, 'eval_samples_per_second': 80.1, 'epoch': 2.0}",
      ['2 eval_loss=0.3 eval_accuracy=0.9'],
    ],
    ['{"step": 3, "loss": 0.25}', ['3 loss=0.25']],
    [
      'Epoch 2/5\n63/63 ━━━━━━━━━━━━━━━━━━━━ 1s 3ms/step - accuracy: 0.51 - loss: 0.70 - val_loss: 0.69',
      ['2 accuracy=0.51 loss=0.7 val_loss=0.69'],
    ],
    [
      'epoch     train_loss  valid_loss  accuracy  time\n0         0.512345    0.412345    0.912345  00:10',
      ['0 train_loss=0.512345 valid_loss=0.412345 accuracy=0.912345'],
    ],
    [
      '10:\tlearn: 0.45\ttest: 0.51\tbest: 0.51 (10)\ttotal: 50ms\tremaining: 1s',
      ['10 train_loss=0.45 test_loss=0.51'],
    ],
    [
      "[I 2024-01-01 12:00:00,000] Trial 3 finished with value: 0.93 and parameters: {'x': 0.1}. Best is trial 3 with value: 0.93.",
      ['3 value=0.93'],
    ],
    [
      'Test set: Average loss: 0.0489, Accuracy: 9842/10000 (98%)',
      ['– test_loss=0.0489 test_Accuracy=0.9842'.replace('A', 'a')],
    ],
    ['Accuracy: 0.93', ['– accuracy=0.93']],
    [
      'Elasticnet model (alpha=0.5, l1_ratio=0.5):\n  RMSE: 0.79\n  MAE: 0.62\n  R2: 0.1',
      ['– rmse=0.79', '– mae=0.62', '– r2=0.1'],
    ],
    ['The RMSE of prediction is: 0.4471', ['– rmse=0.4471']],
    ['The accuracy on the test set is 0.93.', ['– accuracy=0.93']],
    [
      'gen\tnevals\tavg    \tstd    \tmin\tmax\n0  \t300   \t49.9733\t4.85764\t37 \t64 \n1  \t180   \t54.1067\t4.38711\t41 \t68 ',
      ['0 avg=49.9733 std=4.85764 min=37 max=64', '1 avg=54.1067 std=4.38711 min=41 max=68'],
    ],
    [
      '-- Generation 0 --\n  Evaluated 185 individuals\n  Min 44.0\n  Max 66.0\n-- Generation 1 --\n  Avg 54.83\n  Std 4.35',
      ['0 min=44', '0 max=66', '1 avg=54.83', '1 std=4.35'],
    ],
    [
      " ****** Running generation 3 ****** \n\nPopulation's average fitness: 2.14378 stdev: 0.37524\nBest fitness: 3.99 - size: (3, 8) - species 1 - id 128\nAverage adjusted fitness: 0.443",
      ['– average_fitness=2.14378 fitness_stdev=0.37524', '– best_fitness=3.99'],
    ],
    ['epoch 3: loss nan', ['3 loss=NaN']],
    [
      'Epoch 1:  50%|█████     | 50/100 [00:01<00:01, 49.10it/s, v_num=0, train_loss=0.123]',
      ['1 train_loss=0.123'],
    ],
  ])('%j', (log, found) => {
    expect(recognized(log)).toEqual(found);
  });
});

test('the logs of 50 other programs hold no metric', () => {
  const logs = readLog('other-programs.txt').split(/^(?==== )/m);

  const invented = logs.flatMap((log) => recognized(log).map((found) => `${log.split('\n')[0]}: ${found}`));

  expect(logs.length).toBeGreaterThanOrEqual(50);
  expect(invented).toEqual([]);
});

test('an expression takes time proportional to the line, whatever it holds', () => {
  const hostile = [
    'loss ',
    'epoch 1 ',
    'loss: 1',
    "{'loss': 1, ",
    ' - loss: 1',
    'a b c loss',
    '1/1 [=',
    '[1]\t',
    '| loss ',
  ];
  const millisecondsOnce = (units: number): number => {
    const begun = performance.now();
    for (const text of hostile)
      for (let at = 0; at < 10; at += 1) recognized(text.repeat(1000).slice(0, units));
    return performance.now() - begun;
  };
  millisecondsOnce(900);
  // The quickest round is the one that no other process interrupted.
  const millisecondsOf = (units: number): number =>
    Math.min(...Array.from({ length: 20 }, () => millisecondsOnce(units)));

  // A quadratic expression takes a hundred times as long for ten times the length.
  expect(millisecondsOf(900) / millisecondsOf(90)).toBeLessThan(50);
});

describe('lines that lie', () => {
  test.each([
    '  File "loss.py", line 3, in loss: 0.3',
    'ValueError: loss: 0.3 is too small at step 3',
    '    loss = 0.5 * (a + b)  # epoch 3',
    'loss = torch.tensor(0.5)',
    'Namespace(loss=0.5, lr=0.1, epoch=3)',
    'optimizer: adam\nloss: 1.0\ndropout: 0.1',
    'dropout: 0.1\nloss: 1.0\nDone.',
    'Listening on port 8080: epoch 3',
    '2024-01-01 accuracy 2024-01-02',
    'Epoch 3 took 12.3s',
    'Loss of connection after 3 retries',
    'tests/test_loss.py::test_acc[0.5] PASSED [ 50%]',
    'GET /api/epoch/3?loss=0.3 HTTP/1.1 200',
    'recall: 3 items',
    'accuracy: 3',
    'return 0.5',
    'map: 0.5 -> 0.7',
    '[1]\tpackages/score-2.1',
    '{"loss": "mse", "lr": 0.1}',
    "{'loss': 0.5, 'dropout': 0.1}",
    ' 45%|████▌     | 45/100 [00:01<00:01, 49.10it/s]',
    'step 3: downloading model-00001.bin 45%',
    '  Max 51.0\n  Min 3.0',
    '-- Generation 3 --\nBest: a\n  Max 51.0',
    '-- Generation 3 --\n  Max 51.0 of 60\n  Maximum 2.0\n  Max is 3.0',
    'Generation 3 of reports\n  Max 51.0',
    'Best fitness: 3.99 of all clubs',
    "Population's average fitness: 2.14",
    'id  loss  acc\n1  0.2  0.9\n2  0.1  0.95',
  ])('%j holds no metric', (log) => {
    expect(recognized(log)).toEqual([]);
  });
});
