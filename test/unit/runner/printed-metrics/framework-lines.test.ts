import { describe, expect, test } from 'vitest';
import { recognized } from './recognized.ts';

/** Lines as the programs of each framework print them; the words and spaces are those of its own loggers. */
describe('lines of frameworks, with training, validation and test told apart', () => {
  test.each([
    [
      'pytorch/examples/imagenet',
      'Epoch: [0][ 1/20]\tTime  1.501 ( 1.501)\tData  0.9 (  0.9)\tLoss 6.9000e+00 (6.9100e+00)\tAcc@1   3.00 (  2.00)\n' +
        'Test: [ 1/20]\tTime  0.6 (0.6)\tLoss 5.1e+00 (5.0e+00)\tAcc@1  90.00 ( 90.00)\n' +
        'Test: [11/20]\tTime  0.6 (0.6)\tLoss 5.3e+00 (5.2e+00)\tAcc@1  12.00 ( 15.00)\n' +
        ' *   Acc@1 16.000 Acc@5 40.000',
      ['0 loss=6.9 train_acc1=3', '0 val_loss=5.2 val_acc1=15', '0 val_acc1=16 val_acc5=40'],
    ],
    [
      'the loggers of Hydra and of absl',
      '[2026-11-29 14:04:41,638][__main__][INFO] - epoch 1: train_loss 0.5 val_acc 0.9718\n' +
        'I1129 14:04:41.638894 139751746777792 run.py:14] step 10: loss = 0.09337, eval accuracy = 0.9650',
      ['1 train_loss=0.5 val_acc=0.9718', '10 loss=0.09337 eval_accuracy=0.965'],
    ],
    [
      'torchvision references',
      'Epoch: [0]  [ 0/20]  eta: 0:00:30  lr: 0.01  loss: 2.4000 (2.4000)  acc1: 10.0000 (10.0000)  time: 0.1\n' +
        'Epoch: [0] Total time: 0:00:30\nTest:   [ 0/79]  eta: 0:01:00  loss: 1.2 (1.3)  acc1: 75 (76)  time: 0.7\n' +
        'Test:  Acc@1 15.000 Acc@5 55.000',
      ['0 lr=0.01 loss=2.4 train_acc1=10', '0 val_loss=1.3 val_acc1=76', '0 val_acc1=15 val_acc5=55'],
    ],
    [
      'DeiT and MAE',
      'Averaged stats: lr: 0.0001  loss: 0.5000 (0.6000)\n* Acc@1 69.700 Acc@5 89.100 loss 1.200',
      ['– lr=0.0001 train_loss=0.6', '– val_acc1=69.7 val_acc5=89.1 val_loss=1.2'],
    ],
    [
      'timm',
      'Train: 0 [   0/5 (  0%)]  Loss: 0.700 (0.710)  Time: 1.2s  LR: 1.000e-02\n' +
        'Test: [   2/2]  Time: 0.010 (0.020)  Loss:   0.600 ( 0.650)  Acc@1:  50.000 ( 55.000)\n*** Best metric: 50.0 (epoch 0)',
      ['0 loss=0.7 lr=0.01', '0 val_loss=0.65 val_acc1=55'],
    ],
    [
      'mmengine',
      '11/29 02:00:01 - mmengine - INFO - Epoch(train)  [1][20/20]  lr: 1.0000e-02  eta: 0:00:10  time: 0.0100  loss: 0.6900\n' +
        '11/29 02:00:01 - mmengine - INFO - Epoch(val)  [1][5/5]    accuracy/top1: 75.0000  data_time: 0.0010  time: 0.0050\n' +
        '11/29 02:00:01 - mmengine - INFO - Iter(train) [ 50/100]  lr: 1.0e-02  loss: 0.5  decode.acc_seg: 80.0\n' +
        '11/29 02:00:01 - mmengine - INFO - Iter(val) [5/5]    aAcc: 90.1000  mIoU: 60.5000  mAcc: 70.0\n',
      [
        '1 lr=0.01 loss=0.69',
        '1 val_accuracy/top1=75',
        '50 lr=0.01 loss=0.5 train_decode.acc_seg=80',
        '50 val_aAcc=90.1 val_mIoU=60.5 val_mAcc=70',
      ],
    ],
    [
      'mmcv 1',
      '2023-01-01 00:00:00,000 - mmdet - INFO - Epoch [1][50/100]\tlr: 1.000e-02, eta: 0:10:00, time: 0.5, loss_cls: 0.4000, loss: 0.5000\n' +
        '2023-01-01 00:00:00,000 - mmdet - INFO - Epoch(val) [1][625]\tbbox_mAP: 0.3000, bbox_mAP_50: 0.5000',
      ['1 lr=0.01 loss_cls=0.4 loss=0.5', '1 val_bbox_mAP=0.3 val_bbox_mAP_50=0.5'],
    ],
    [
      'detectron2',
      '[11/29 02:00:00 d2.utils.events]:  eta: 0:01:00  iter: 19  total_loss: 1.316  loss_cls: 0.526  time: 0.5  lr: 0.0004  max_mem: 100M\n' +
        '[11/29 02:00:00 d2.evaluation.testing]: copypaste: Task: bbox\n[11/29 02:00:00 d2.evaluation.testing]: copypaste: AP,AP50,APs\n' +
        '[11/29 02:00:00 d2.evaluation.testing]: copypaste: 38.1,58.9,nan',
      ['19 total_loss=1.316 loss_cls=0.526 lr=0.0004', '– bbox/AP=38.1 bbox/AP50=58.9'],
    ],
    [
      'megatron',
      ' [2024-01-01 10:00:00] iteration       10/     100 | consumed samples:          160 | learning rate: 1.500000E-04 | lm loss: 1.060000E+01 | grad norm: 5.123 |\n' +
        ' validation loss at iteration 10 | lm loss value: 5.100000E+00 | lm loss PPL: 1.640000E+02 | ',
      ['10 learning_rate=0.00015 loss=10.6 grad_norm=5.123', '10 validation_loss=5.1 validation_ppl=164'],
    ],
    [
      'fairseq',
      '2026-11-29 02:00:00 | INFO | train_inner | epoch 001:    100 / 1000 loss=9.5, ppl=500, wps=100, lr=0.001\n' +
        '2026-11-29 02:00:00 | INFO | valid | {"epoch": 1, "valid_loss": "9.000", "valid_ppl": "500.00", "valid_num_updates": "10"}\n' +
        "2026-11-29 02:00:00 | INFO | valid | epoch 002 | valid on 'valid' subset | loss 8.5 | ppl 362 | num_updates 20 | best_loss 8.5",
      [
        '1 loss=9.5 train_ppl=500 lr=0.001',
        '1 valid_loss=9 valid_ppl=500',
        '2 valid_loss=8.5 valid_ppl=362 best_loss=8.5',
      ],
    ],
    ['CleanRL', 'global_step=1234, episodic_return=[21.]', ['1234 episodic_return=21']],
    ['OpenSpiel', 'Iteration 10 exploitability 0.04', ['10 exploitability=0.04']],
    [
      'Metaflow, torchrun, Ray',
      '2026-11-29 02:00:00.123 [1690/train/1 (pid 12)] epoch 1: loss 0.5\n[rank0]: epoch 2: loss 0.4\n(RayTrainWorker pid=12, ip=10.0.0.1) epoch 3: loss 0.3',
      ['1 loss=0.5', '2 loss=0.4', '3 loss=0.3'],
    ],
    ['Guild', 'x: 0.100000\nnoise: 0.100000\nloss: 0.500000\n', ['– loss=0.5']],
    [
      'PyTorch Geometric',
      'Epoch: 001, Loss: 1.9, Train: 0.7, Val: 0.6, Test: 0.61\nEpoch: 002, Train: 0.8, Val: 0.7, Test: 0.71',
      ['1 loss=1.9 train=0.7 val=0.6 test=0.61', '2 train=0.8 val=0.7 test=0.71'],
    ],
    [
      'loops that name the data in front of several metrics',
      'Epoch 1 | Train: loss 0.5 acc 0.9 | Val: loss 0.6 acc 0.8\n3epoch results: [train] loss_ctc=90.1, loss=80.1, acc=0.3, [valid] loss=70.2, acc=0.4',
      [
        '1 train_loss=0.5 train_acc=0.9 val_loss=0.6 val_acc=0.8',
        '3 train_loss_ctc=90.1 train_loss=80.1 train_acc=0.3 valid_loss=70.2 valid_acc=0.4',
      ],
    ],
    [
      'Accelerate, torch and NumPy',
      "epoch 0: {'accuracy': 0.84, 'f1': 0.89}\nStep 10: {'loss': tensor(0.3000, device='cuda:0'), 'acc': np.float64(0.9)}",
      ['0 accuracy=0.84 f1=0.89', '10 loss=0.3 acc=0.9'],
    ],
    [
      'Hugging Face Trainer',
      "{'loss': '0.31', 'grad_norm': '1.2', 'learning_rate': '5e-05', 'epoch': '1.5'}\n***** eval metrics *****\n  epoch                   =        3.0\n  eval_accuracy           =     0.8603\n  eval_loss               =     0.4007\n  eval_runtime            = 0:00:01.20",
      [
        '1.5 loss=0.31 grad_norm=1.2 learning_rate=0.00005',
        '1.5 eval_accuracy=0.8603',
        '1.5 eval_loss=0.4007',
      ],
    ],
    [
      'Ultralytics',
      '      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n' +
        '        1/3         0G      1.137      2.854      1.245         14        640: 100%|██████████| 1/1 [00:02<00:00,  2.15s/it]\n' +
        '                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 1/1 [00:00<00:00,  3.34it/s]\n' +
        '                   all          4         17      0.869      0.584      0.739      0.497',
      [
        '1 box_loss=1.137 cls_loss=2.854 dfl_loss=1.245',
        '1 val_precision=0.869 val_recall=0.584 val_mAP50=0.739 val_mAP50-95=0.497',
      ],
    ],
    [
      'Keras, which does not name what evaluate measures',
      'Epoch 1/2\n1875/1875 ━━━━━━━━━━━━━━━━━━━━ 1s 3ms/step - accuracy: 0.51 - loss: 0.70\nEpoch 2/2\n' +
        '1875/1875 - 1s - 3ms/step - accuracy: 0.61 - loss: 0.60\n313/313 - 0s - 1ms/step - accuracy: 0.55 - loss: 0.65',
      ['1 accuracy=0.51 loss=0.7', '2 accuracy=0.61 loss=0.6', '2 eval_accuracy=0.55 eval_loss=0.65'],
    ],
    [
      'Keras 2',
      'Epoch 1/2\n63/63 [==============================] - 1s 3ms/step - loss: 0.7000 - accuracy: 0.5100 - val_loss: 0.6900 - val_accuracy: 0.5200\n' +
        '63/63 [==============================] - 0s 1ms/step - loss: 0.6800 - accuracy: 0.5300',
      ['1 loss=0.7 accuracy=0.51 val_loss=0.69 val_accuracy=0.52', '1 eval_loss=0.68 eval_accuracy=0.53'],
    ],
    [
      'Lightning',
      'Epoch 0/9 ━━━━━━━━━━━━━━━━━━━━ 20/20 0:00:01 • 0:00:00 97.1it/s v_num: 0.000 train_loss: 0.050\n' +
        '┃        Test metric        ┃       DataLoader 0        ┃\n│         test_acc          │    0.9215999841690063     │\n' +
        '        test_loss            0.2719093561172485',
      ['0 train_loss=0.05', '0 test_acc=0.9215999841690063', '0 test_loss=0.2719093561172485'],
    ],
    [
      'PaddlePaddle',
      'Epoch 1/2\nstep 938/938 [==============================] - loss: 0.0500 - acc: 0.9000 - 5ms/step\nEval begin...\n' +
        'step 157/157 [==============================] - loss: 0.0100 - acc: 0.9700 - 4ms/step\nEval samples: 10000\n' +
        '[2023/01/01 10:00:00] ppcls INFO: [Train][Epoch 1/20][Iter: 0/26]lr(LinearWarmup): 0.00012, top1: 0.05000, loss: 4.60000, batch_cost: 1.5s\n' +
        '[2023/01/01 10:00:00] ppcls INFO: [Eval][Epoch 1][Avg]CE: 1.20000, loss: 1.20000, top1: 0.60000\n' +
        '2021-01-01 10:00:00 [INFO]\t[TRAIN] epoch: 1, iter: 10/1000, loss: 0.9000, lr: 0.010000, batch_cost: 0.2\n' +
        '2021-01-01 10:00:00 [INFO]\t[EVAL] #Images: 76, mIoU: 0.8000, Acc: 0.9500, Kappa: 0.7000',
      [
        '1 loss=0.05 acc=0.9',
        '1 eval_loss=0.01 eval_acc=0.97',
        '1 train_top1=0.05 loss=4.6',
        '1 eval_ce=1.2 eval_loss=1.2 eval_top1=0.6',
        '1 loss=0.9 lr=0.01',
        '1 eval_mIoU=0.8 eval_acc=0.95 eval_kappa=0.7',
      ],
    ],
    [
      'Flax and JAX',
      'I1129 02:00:00.123456 140 train.py:148] epoch:  1, train_loss: 0.2349, train_accuracy: 92.95, test_loss: 0.07\n' +
        'I1129 02:00:00.123456 140 logging_writer.py:48] [100] accuracy=0.9, loss=0.5\nTraining set accuracy 0.8712',
      [
        '1 train_loss=0.2349 train_accuracy=92.95 test_loss=0.07',
        '100 accuracy=0.9 loss=0.5',
        '1 training_accuracy=0.8712',
      ],
    ],
    [
      'scikit-learn',
      'Iteration 1, loss = 0.31\n      Iter       Train Loss   Remaining Time \n         1           1.2634            1.02s\n         2           1.1000            0.95s\n' +
        '[1/100] 1 tree, 31 leaves, max depth = 10, train loss: 0.5, val loss: 0.6, in 0.01s\n[CV 1/5] END ................C=1, gamma=0.1;, score=0.930 total time=   0.0s',
      [
        '1 loss=0.31',
        '1 train_loss=1.2634',
        '2 train_loss=1.1',
        '1 train_loss=0.5 val_loss=0.6',
        '– cv_score=0.93',
      ],
    ],
    [
      "scikit-learn's classification_report",
      '              precision    recall  f1-score   support\n\n           0       1.00      0.99      0.99        88\n\n    accuracy                           0.97       176\n   macro avg       0.98      0.97      0.96       176\nweighted avg       0.98      0.97      0.98       176',
      [
        '– accuracy=0.97',
        '– macro_precision=0.98 macro_recall=0.97 macro_f1=0.96',
        '– weighted_precision=0.98 weighted_recall=0.97 weighted_f1=0.98',
      ],
    ],
    [
      'Stable-Baselines3',
      `${'-'.repeat(34)}\n| rollout/           |          |\n|    ep_rew_mean     | 21.5     |\n| time/              |          |\n|    fps             | 900      |\n|    total_timesteps | 2048     |\n| train/             |          |\n|    loss            | 5.2      |\n|    n_updates       | 10       |\n${'-'.repeat(34)}`,
      ['2048 rollout/ep_rew_mean=21.5 train/loss=5.2'],
    ],
    [
      'RLlib and Tune',
      '│ env_runners/episode_return_mean          21.5 │\n│ training_iteration                          1 │',
      ['– env_runners/episode_return_mean=21.5'],
    ],
    [
      'skorch',
      '  epoch    train_loss    valid_acc    valid_loss     dur\n-------  ------------  -----------  ------------  ------\n      1        \u001b[36m0.6869\u001b[0m       \u001b[32m0.5500\u001b[0m        0.6767  0.1234\n      2        0.6700       0.5600        0.6600  0.1200',
      [
        '1 train_loss=0.6869 valid_acc=0.55 valid_loss=0.6767',
        '2 train_loss=0.67 valid_acc=0.56 valid_loss=0.66',
      ],
    ],
    [
      'Surprise',
      'Evaluating RMSE, MAE of algorithm SVD on 5 split(s).\n\n                  Fold 1  Fold 2  Mean    Std     \nRMSE (testset)    0.9311  0.9370  0.9342  0.0032  \nFit time          6.53    7.11    6.40    1.23    ',
      ['– test_rmse=0.9342'],
    ],
    [
      'pycocotools',
      ' Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.381\n Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 0.589\n Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = -1.000\n Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets= 10 ] = 0.501',
      ['– val_AP=0.381', '– val_AP50=0.589', '– val_AR10=0.501'],
    ],
    [
      'LightGBM, which repeats its best line at the end',
      "[45]\ttraining's auc: 0.99\tvalid_1's auc: 0.98\n[46]\ttraining's auc: 0.99\tvalid_1's auc: 0.97\nEarly stopping, best iteration is:\n[45]\ttraining's auc: 0.99\tvalid_1's auc: 0.98",
      ['45 training-auc=0.99 valid_1-auc=0.98', '46 training-auc=0.99 valid_1-auc=0.97'],
    ],
    [
      'tables of any loop',
      'epoch | loss | acc\n1 | 0.2 | 0.9\n2 | 0.1 | 0.95',
      ['1 loss=0.2 acc=0.9', '2 loss=0.1 acc=0.95'],
    ],
    [
      'titles of bars',
      'Epoch 1, loss: 0.123: 100%|██████████| 10/10 [00:01<00:00,  9.9it/s]',
      ['1 loss=0.123'],
    ],
    [
      'OpenNMT',
      '[2021-01-01 10:00:00,000 INFO] Step 50/100; acc:  3.5; ppl: 100.5; xent: 9.5; lr: 1.0; 1000/1000 tok/s',
      ['50 acc=3.5 ppl=100.5 lr=1'],
    ],
    [
      'minibatches of Flair and sections of its end',
      '2024-01-01 10:00:00,123 epoch 1 - iter 10/100 - loss 0.52 - time (sec): 1.2\n2024-01-01 10:00:00,123 DEV : loss 0.41 - score 0.8',
      ['1 loss=0.52', '1 dev_loss=0.41 dev_score=0.8'],
    ],
  ])('%s', (_, log, found) => {
    expect(recognized(log)).toEqual(found);
  });
});

describe('numbers with commas', () => {
  test.each([
    ['Epoch 1/3 - loss: 0,512 - val_loss: 0,634', ['1 loss=0.512 val_loss=0.634']],
    ['step 100 | loss 1,234.5', ['100 loss=1234.5']],
    ['step 1,000 | loss 0.5', ['1000 loss=0.5']],
    ['epoch 1: loss 12,34 acc 0,5', ['1 loss=12.34 acc=0.5']],
    ['Epoch 2: loss=0.5,acc=0.9', ['2 loss=0.5 acc=0.9']],
    ['epoch 1: loss 1,234', []],
    ['epoch 1: loss 0.1,0.2', []],
    ['epoch 1: loss 1,2,3', []],
    ['epoch 1: loss [0.1, 0.2]', []],
    ['loss: 0,5', []],
    ["{'loss': 0,5, 'epoch': 1}", []],
    ['1/1 [=====] - 1s 3ms/step - loss: 0,5', ['– loss=0.5']],
    ['[1]\ttrain-logloss:0,45', []],
  ])('%j', (log, found) => {
    expect(recognized(log)).toEqual(found);
  });
});

describe('lines of frameworks that lie', () => {
  test.each([
    "Epoch 0, global step 100: 'val_loss' reached 0.69000 (best 0.69000), saving model to 'a.ckpt' as top 1",
    'Epoch 00001: val_loss improved from inf to 0.69000, saving model to a.h5',
    'Metric val_loss improved by 0.050 >= min_delta = 0.0. New best score: 0.600',
    '│ loss     │ mse  │',
    '| loss | 0.5 |',
    '  eval_batch_size = 8',
    'Test: [ 1/20] connecting to 10.0.0.1',
    'name  loss  acc\na  0.2  0.9',
    'epoch  time  size\n1  0.2  0.9',
  ])('%j holds no metric', (log) => {
    expect(recognized(log)).toEqual([]);
  });
});
