import { describe, expect, test } from 'vitest';
import { commandParams } from '../../../shared/command/command-params.ts';

describe('the params of a command', () => {
  test.each([
    ['python train.py --lr 0.1 --epochs=5', { lr: '0.1', epochs: '5' }],
    [
      'python train.py lr=0.1 +trainer.max_epochs=5 model=resnet',
      { lr: '0.1', 'trainer.max_epochs': '5', model: 'resnet' },
    ],
    [
      'python train.py --amp --layers 64 32 --name "two words"',
      { amp: 'true', layers: '64 32', name: 'two words' },
    ],
    ['python -u train.py -b 32 -j4 --shift -3', { b: '32', j: '4', shift: '-3' }],
    ['python train.py --lr 0.1 --lr 0.2', { lr: '0.2' }],
    ['python train.py config/char.py --device=cpu --compile=False', { device: 'cpu', compile: 'False' }],
    ['torchrun --nnodes {num_nodes} --nproc-per-node 2 train.py --lr 0.1', { lr: '0.1' }],
    ['accelerate launch --num_processes 2 -m pkg.train --lr 0.1', { lr: '0.1' }],
    ['python -m spacy train config.cfg --training.max_steps 20', { 'training.max_steps': '20' }],
    ['lightgbm config=train.conf num_trees=10', { config: 'train.conf', num_trees: '10' }],
    [`sh -c 'pip list && python train.py --lr 0.1 --seed "$SEED"'`, { lr: '0.1' }],
    [`python -c 'print(1)' --lr 0.1`, { lr: '0.1' }],
    ['python train.py -m lr=0.1,0.2', { lr: '0.1,0.2' }],
    ['python train.py lr=0.1,0.2 --multirun', { lr: '0.1,0.2' }],
    ['python train.py -m 3', { m: '3' }],
    ['python train.py -- --lr 0.1', {}],
    ['python train.py', {}],
    [
      'python train.py model=yolo11n.yaml data=data/coco.yaml --config configs/a.yaml --init ../w.pt --pretrained google/bert-base',
      {
        model: 'yolo11n.yaml',
        data: 'data/coco.yaml',
        config: 'configs/a.yaml',
        init: '../w.pt',
        pretrained: 'google/bert-base',
      },
    ],
  ])('of %s', (command, params) => {
    expect(commandParams(command)).toEqual(params);
  });

  test.each([
    'python train.py --data /data/images --config /etc/conf.yaml --output-dir out --logdir=x --weights {data_dir}/w',
    'python train.py --url s3://bucket/key --ckpt ../last.pt --home ~/models',
    'python train.py --password hunter2hunter2 --hf-token abc --api_key=abc --wandb_key abc',
    'python train.py --hub ghp_abcdefghijklmnopqrstuvwxyz0123456789 --db postgres://ada:pw@host/db',
  ])('leave out places and secrets: %s', (command) => {
    expect(commandParams(command)).toEqual({});
  });

  test('keep names of models and counts of tokens', () => {
    const command =
      'python train.py --model_name_or_path facebook/opt-125m --max-tokens 4096 --tokenizer bpe';

    expect(commandParams(command)).toEqual({
      model_name_or_path: 'facebook/opt-125m',
      'max-tokens': '4096',
      tokenizer: 'bpe',
    });
  });

  test('have the values of the configuration that the command names', () => {
    const command = 'python train.py --lr {optimizer.lr} --seed {seed} {args}';

    expect(commandParams(command, { 'optimizer.lr': '0.1' })).toEqual({ lr: '0.1' });
  });
});
