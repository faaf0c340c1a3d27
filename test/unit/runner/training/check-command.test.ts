import { describe, expect, test } from 'vitest';
import { commandFaults } from '../../../../shared/runner/training/environment-faults.ts';

describe('checking a command', () => {
  test.each([
    'python train.py {config} {output_dir} {data_dir} {checkpoint_dir} {metrics_file}',
    'torchrun --nnodes={num_nodes} --node-rank={node_rank} --master-addr={master_addr} --master-port={master_port} t.py',
    "find . -name '*.py' -exec wc -l {} +",
    `train --set '{"a":1}' '{"a":{"b":[{}]}}' '{ "name" }'`,
    "awk '{{print}}' log.txt",
    'python train.py --lr {lr} {optimizer.name} {args}',
    'echo {a,b} {1..3} {0} { } a{ b} {a b} {a-b}',
    "train --pattern '^a$' --price '$5' \\$HOME '$HOME' model='${oc.env:HOME}' $",
    `bash -c 'for i in 1 2; do python train.py --seed $i --lr "\${LR:-0.1}" $@; done'`,
    'bash -c "python train.py $CONFIG_PATH"',
    'bash -euo pipefail -c "python train.py $CONFIG_PATH"',
    'env LR=3 /bin/sh -ec "python train.py --lr $LR"',
    'bash -lc "echo $HOME" name',
  ])('takes %s', (command) => {
    expect(commandFaults(command)).toEqual([]);
  });

  test.each([
    [
      'python train.py $DATA_DIR',
      ['$DATA_DIR: variables are not expanded', 'write {data_dir}, or', 'bash -c'],
    ],
    ['python train.py "${OUTPUT_DIR}/a"', ['${OUTPUT_DIR}', 'write {output_dir}']],
    [
      'python train.py $LR ${LR:-1} $1',
      ['$LR, ${LR:-1}, $1: variables', "bash -c '… $LR …'", "'$LR' in single quotes"],
    ],
    ['bash -c "echo a" $HOME', ['$HOME: variables']],
    ['bash train.sh $HOME', ['$HOME: variables']],
    ['bash -x train.sh -c $HOME', ['$HOME: variables']],
    ['cat {a', []],
  ])('says of %s what is wrong, what is allowed and how to write it', (command, parts) => {
    const faults = commandFaults(command);
    expect(faults).toHaveLength(parts.length > 0 ? 1 : 0);
    for (const part of parts) expect(faults[0]).toContain(part);
  });

  test('gives the one reason why a command cannot be split', () => {
    expect(commandFaults('python train.py "{lr}')).toEqual(['a quote (") is not closed']);
  });
});
