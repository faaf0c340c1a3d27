import { join } from 'node:path';
import type { Sandbox } from '../../host/host.ts';
import type { HostSandbox } from './batch-container.ts';
import type { TrainingJob } from './training-job.ts';
import type { Workspace } from './workspace.ts';

/**
 * Sandbox of a training's programs. They see the folders of their run and the environments of their project. Only
 * an installation can change the environments.
 */
export function trainingSandbox(
  { record, container }: TrainingJob,
  { root, own, home }: Workspace,
  phase: 'install' | 'run',
): Sandbox {
  const { hostSandbox, environmentsFolder } = container;
  const environments = join(environmentsFolder, record.project_id);
  return {
    scratch: own,
    home,
    hidden: [...hostSandbox.hidden, own],
    absent: hostSandbox.absent,
    kept: [
      { path: root, readOnly: false },
      { path: environments, readOnly: phase === 'run' },
      { path: join(environmentsFolder, pythonsFolder), readOnly: true },
      ...visible(hostSandbox),
    ],
    sharedMemoryBytes: record.memory * 2 ** 20,
  };
}

const visible = ({ readable, writable }: HostSandbox) => [
  ...readable.map((path) => ({ path, readOnly: true })),
  ...writable.map((path) => ({ path, readOnly: false })),
];

/** Folder of the interpreters of all projects in the folder of environments. No project can change them. */
export const pythonsFolder = '.pythons';

/** Sandbox of an optimization's stages. They see its folders and their own program, and no network. */
export function stageSandbox(hostSandbox: HostSandbox, root: string, programFolder: string): Sandbox {
  return {
    scratch: root,
    hidden: hostSandbox.hidden,
    kept: [{ path: root, readOnly: false }, { path: programFolder, readOnly: true }, ...visible(hostSandbox)],
    network: 'none',
  };
}
