import { describe, expect, test } from 'vitest';
import { resolveCommand } from '../../../shared/command/placeholders.ts';

const values = {
  config: '/c/my config.yaml',
  output_dir: "/o/'; rm -rf $HOME",
  data_dir: '/d',
  checkpoint_dir: '/k',
  metrics_file: '/m',
  node_rank: '1',
  num_nodes: '2',
  master_addr: '10.0.0.1',
  master_port: '29500',
};

describe('putting values into a command', () => {
  test('a value is one argument or part of one, whatever it holds', () => {
    expect(resolveCommand('train --config={config} -o {output_dir}', values)).toEqual([
      'train',
      '--config=/c/my config.yaml',
      '-o',
      "/o/'; rm -rf $HOME",
    ]);
  });

  test('every placeholder has its value', () => {
    const command =
      'torchrun {data_dir} {checkpoint_dir} {metrics_file} {node_rank}/{num_nodes} {master_addr}:{master_port}';
    expect(resolveCommand(command, values)).toEqual([
      'torchrun',
      ...['/d', '/k', '/m', '1/2', '10.0.0.1:29500'],
    ]);
  });

  test('other braces stay, and a value is not looked into again', () => {
    const tricky = { ...values, config: '{output_dir}', output_dir: "$&$'" };
    expect(resolveCommand(`a {config} {output_dir} '{"a":{}}' {} {a,b} '{0}'`, tricky)).toEqual([
      'a',
      '{output_dir}',
      "$&$'",
      '{"a":{}}',
      '{}',
      '{a,b}',
      '{0}',
    ]);
  });

  test('a shell has its own variables, and doubled braces are text', () => {
    const command = `bash -c 'echo \${config} $NAME "{data_dir}"' {{config}} {{{config}}}`;
    expect(resolveCommand(command, values)).toEqual([
      'bash',
      '-c',
      `echo \${config} $NAME "/d"`,
      '{config}',
      '{{config}}',
    ]);
  });

  test('what only earlier releases accepted runs as it did there', () => {
    expect(resolveCommand('train {other} $HOME "${LR}"', values)).toEqual([
      'train',
      '{other}',
      '$HOME',
      `\${LR}`,
    ]);
  });
});
