import { describe, expect, test } from 'vitest';
import { isReserved, VariableName } from '../../../shared/data/projects/variable-rules.ts';
import { pythonVariables } from '../../../shared/runner/environment/install/python-environment.ts';
import type { Workspace } from '../../../shared/runner/job/workspace.ts';
import { commandEnvironment } from '../../../shared/runner/training/command-environment.ts';
import { experimentOf } from '../../support/experiment.ts';

const nowhere = {
  config: '',
  output_dir: '',
  data_dir: '',
  checkpoint_dir: '',
  metrics_file: '',
  node_rank: '0',
  num_nodes: '2',
  master_addr: '',
  master_port: '',
};

describe('names of variables', () => {
  test('none is one that the service gives a command', () => {
    const experiment = { ...experimentOf('01h00000000000000000000000', 0.5), kind: 'train-remote' } as const;
    const workspace = { home: '', temporary: '' } as Workspace;
    const prepared = { ...pythonVariables('', '', []), NODE_PATH: '' };
    const given = Object.keys(commandEnvironment(experiment, workspace, nowhere, prepared));
    expect(given.length).toBeGreaterThan(18);
    expect(given.filter((name) => !isReserved(name))).toEqual([]);
  });

  test.each(['HF_TOKEN', '_', 'a1', 'AWS_ACCESS_KEY_ID', 'NODE_ENV', 'A'.repeat(128)])(
    'may be %s',
    (name) => {
      expect(VariableName.safeParse(name).success).toBe(true);
    },
  );

  test.each([
    '',
    '1A',
    'A-B',
    'A=B',
    'Ä',
    'A\n',
    'A'.repeat(129),
    'LD_PRELOAD',
    'DOCKER_HOST',
    'PATH',
    'MPS_X',
  ])('may not be %j', (name) => {
    expect(VariableName.safeParse(name).success).toBe(false);
  });
});
