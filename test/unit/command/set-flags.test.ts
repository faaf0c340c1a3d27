import { describe, expect, test } from 'vitest';
import { commandParams } from '../../../shared/command/command-params.ts';
import { shownCommand } from '../../../shared/command/private-argument.ts';
import { type FlagValues, hasFlag, setFlags } from '../../../shared/command/set-flags.ts';

describe('flags of a command', () => {
  test.each<[string, FlagValues, string]>([
    [
      'python train.py --lr 0.1 --epochs=5',
      { '--lr': 0.4, epochs: 9 },
      'python train.py --lr 0.4 --epochs=9',
    ],
    ['python train.py lr=0.1 +a.b=1', { lr: 0.4, 'a.b': 2 }, 'python train.py lr=0.4 +a.b=2'],
    ['python train.py --learning-rate 0.1', { learning_rate: 1 }, 'python train.py --learning-rate 1'],
    ['python train.py --compile=True', { compile: false }, 'python train.py --compile=False'],
    ['python train.py --amp --resume x', { amp: false, resume: null }, 'python train.py'],
    ['python train.py', { '--lr': 0.4, '--amp': true }, 'python train.py --lr=0.4 --amp'],
    ['python train.py -b32', { b: 64 }, 'python train.py -b64'],
    [`python train.py --name 'it''s' '$X'`, { name: 'a b' }, `python train.py --name 'a b' '$X'`],
  ])('in %s become %j', (command, flags, changed) => {
    expect(setFlags(command, flags)).toBe(changed);
  });

  test('cannot be set within the script of a shell, nor without hyphens where there are none', () => {
    expect(() => setFlags("sh -c 'python train.py --lr 1'", { '--lr': 2 })).toThrow(
      'write the whole command',
    );
    expect(() => setFlags('python train.py', { lr: 2 })).toThrow('the command has no flag lr');
    expect(hasFlag('python train.py --lr 1', 'lr')).toBe(true);
    expect(hasFlag('torchrun --nnodes 2 train.py', 'nnodes')).toBe(false);
  });

  test('that hold secrets are shown as ***', () => {
    expect(shownCommand('python train.py --token abc --api-key=abc --lr 0.1')).toBe(
      "python train.py --token '***' '--api-key=***' --lr 0.1",
    );
    expect(shownCommand("sh -c 'python train.py --token abc --lr 1'")).not.toContain('abc');
    expect(shownCommand('git clone https://ada:pw@host/x')).toBe("git clone 'https://***@host/x'");
    expect(shownCommand('python  train.py "a b"')).toBe('python  train.py "a b"');
  });

  test.each([
    'python train.py --authToken hunter2hunter2 --dbPassword=hunter2hunter2',
    'python train.py --openai_key hunter2hunter2 --pass hunter2hunter2 --key hunter2hunter2 --tokens hunter2hunter2',
    'python train.py --password -hunter2hunter2',
    'python train.py --config \'{"a": {"api_key": "hunter2hunter2"}}\'',
    'python train.py --header "Authorization: Bearer hunter2hunter2"',
    'python train.py --url "https://example.com/x?token=hunter2hunter2"',
    'papermill a.ipynb a.ipynb -y "token: hunter2hunter2"',
    'env API_TOKEN=hunter2hunter2 python train.py',
    'uv run --token hunter2hunter2 train.py',
    'accelerate launch train.py -- --token hunter2hunter2',
    "sh -c 'export API_KEY=hunter2hunter2; python train.py api_key=hunter2hunter2'",
    'sh -c \'python train.py --token "abc hunter2hunter2" --password=-hunter2hunter2\'',
    'sh -c \'bash -c "python train.py --token hunter2hunter2"\'',
  ])('that hold secrets are shown as ***, and are no params: %s', (command) => {
    expect(shownCommand(command)).not.toContain('hunter2');
    expect(JSON.stringify(commandParams(command))).not.toContain('hunter2');
  });

  test.each([
    'python train.py --tokenizer bert --token-dim 5 --max_tokens=7 --key-size 3 --monkey x --keys a,b',
    "sh -c 'bash prepare.sh --lr 0.1; python train.py --tokenizer=bert -v 2'",
  ])('that hold none are shown as they are: %s', (command) => {
    expect(shownCommand(command)).toBe(command);
  });

  test('are masked in time proportional to the command', () => {
    for (const text of ['a ', '--token ', 'a=', '-a ', 'token: ', "a='b "])
      expect(shownCommand(`python "${text.repeat(20_000)}"`)).toMatch(/^python/);
  });
});

test.each([
  [{ '--lr': 0.1 }, 'papermill a.ipynb a.ipynb -k python3 -p lr 0.1 -p depth 3'],
  [{ lr: 0.1 }, 'papermill a.ipynb a.ipynb -k python3 -p lr 0.1 -p depth 3'],
  [{ '--batch-size': 8 }, 'papermill a.ipynb a.ipynb -k python3 -r lr 0.2 -p depth 3 -p batch_size 8'],
  [{ lr: null }, 'papermill a.ipynb a.ipynb -k python3 -p depth 3'],
  [{ '--none': null }, 'papermill a.ipynb a.ipynb -k python3 -r lr 0.2 -p depth 3'],
])('parameters of a notebook change by %j', (flags, expected) => {
  const command = 'papermill a.ipynb a.ipynb -k python3 -r lr 0.2 -p depth 3';
  expect(setFlags(command, flags)).toBe(expected);
  expect(commandParams(command)).toEqual({ lr: '0.2', depth: '3' });
});
