import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from '../../../../infra/tools/demo/demo-service.ts';
import { isFinal } from '../../../../shared/data/jobs/job-status.ts';
import { type Figure, figure } from '../../bench/figure.ts';
import { TrainingProject } from '../../bench/training-project.ts';
import { adminPassword } from '../machine/ledger.ts';
import { startProgram } from '../machine/start-program.ts';
import type { ProofContext } from '../proof.ts';
import { formerLauncher } from './former.ts';

const launcher = join(import.meta.dirname, '../../../../infra/local/start/launch.mjs');

/** The first attempt leaves a checkpoint and does not end; the next one finds it and succeeds. */
const script = `mark="$CHECKPOINT_DIR/mark"
[ -e "$mark" ] && { echo restored; echo made > "$OUTPUT_DIR/model.bin"; exit 0; }
echo first > "$mark"
echo began
sleep 3600
`;
const patienceMs = 300_000;

/**
 * Stops the service of the former version while it trains, by a signal, and starts the present one on its data: each
 * training has to succeed once.
 */
export async function upgradeService(
  { folder, started, say }: Pick<ProofContext, 'folder' | 'started' | 'say'>,
  tree: string,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const data = join(folder, `data-${signal}`);
    const args = (program: string) => [program, '--port', '0', '--data', data];
    const before = await startProgram(started, process.execPath, args(formerLauncher(tree)));
    const own = await signIn(before.url, { username: 'admin', password: adminPassword });
    const begin = async () => {
      const project = await TrainingProject.create(own.client, {
        command: 'sh train.sh',
        files: { 'train.sh': script },
      });
      return { project, experiment: await project.train() };
    };
    const begun = await Promise.all(Array.from({ length: trainings }, begin));
    for (const { project, experiment } of begun)
      await until(async () =>
        (await project.firstLines(experiment)).some(({ message }) => message === 'began'),
      );
    await sleep(checkpointMs);
    await before.end(signal);
    const after = await startProgram(started, process.execPath, args(launcher));
    const { client } = await signIn(after.url, { username: 'admin', password: adminPassword });
    let succeeded = 0;
    for (const { project: former, experiment } of begun) {
      const project = new TrainingProject(client, former.project_id);
      await until(async () => isFinal((await project.read(experiment)).status));
      const ended = await project.read(experiment);
      const { status, status_reason, attempt, artifacts } = ended;
      if (status === 'SUCCEEDED' && attempt === 2 && artifacts === 1) succeeded += 1;
      else say(`${signal}: ${JSON.stringify({ status, status_reason, attempt, artifacts })}`);
    }
    await after.end('SIGTERM');
    figures.push(
      figure(`trainings that a service ended by ${signal} left, and the present one ended`, succeeded, '', {
        atLeast: trainings,
      }),
    );
  }
  return figures;
}

/** As many as the service runs at a time on a machine of two cores. */
const trainings = 2;
/** Much longer than it takes until a checkpoint is complete and stored. */
const checkpointMs = 20_000;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('it does not come');
    await sleep(200);
  }
}
