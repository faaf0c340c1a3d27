import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from '../../../infra/tools/demo/demo-service.ts';
import { checkpointProgram, type Way } from '../../support/checkpoint-writer.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { type Figure, figure } from '../bench/figure.ts';
import { TrainingProject } from '../bench/training-project.ts';
import { adminPassword } from './machine/ledger.ts';
import type { Proof, ProofContext } from './proof.ts';

/** Seconds from the beginning of the trainings to the kill. */
const killAfter = { short: 16, long: 60 };

interface Case {
  way: Way;
  /** Between two checkpoints. */
  seconds: number;
}

/** Two at a time, as a machine of two cores runs them. */
const cases: Readonly<Record<ProofContext['size'], readonly (readonly Case[])[]>> = {
  short: [[{ way: 'replaced', seconds: 1 }]],
  long: [
    [
      { way: 'replaced', seconds: 0.2 },
      { way: 'replaced', seconds: 1 },
    ],
    [
      { way: 'replaced', seconds: 2 },
      { way: 'replaced', seconds: 5 },
    ],
    [
      { way: 'set', seconds: 1 },
      { way: 'rewritten', seconds: 2 },
    ],
    [
      { way: 'slowly', seconds: 3 },
      { way: 'several', seconds: 3 },
    ],
  ],
};

/** The first attempt finds no checkpoint and writes; the next one succeeds where it finds whole ones. */
const program = `
import os, sys
folder = os.environ["CHECKPOINT_DIR"]
for name in sorted(os.listdir(folder)):
    text = open(os.path.join(folder, name)).read()
    step = text.split("\\n")[0].removeprefix("step ")
    if not text.endswith(f"\\nend {step}\\n"): sys.exit(f"{name} is not whole")
    print(f"{name} of step {step}")
if os.listdir(folder): sys.exit(0)
sys.argv[1:] = [folder, *sys.argv[1:]]
exec(open("write.py").read())
`;
/** Within these an attempt that has checkpoints has ended. */
const patienceSeconds = 60;

async function start(started: AsyncDisposableStack, data: string): Promise<LocalService> {
  const service = await startLocalService(['--data', data], { ADMIN_PASSWORD: adminPassword });
  if ('code' in service) throw new Error(`the service did not start: ${service.output}`);
  started.defer(async () => void (await service.end('SIGKILL')));
  return service;
}

const sessionOf = ({ url }: LocalService) => signIn(url, { username: 'admin', password: adminPassword });

/** Trains, kills the service with all that it runs, starts it again, and tells what the next attempts were given. */
async function killAndGoOn({ started, size, say }: ProofContext, round: readonly Case[], data: string) {
  const first = await start(started, data);
  const { client } = await sessionOf(first);
  const begun = [];
  for (const { way, seconds } of round) {
    const command = `python3 train.py ${way} ${seconds}`;
    const files = { 'train.py': program, 'write.py': checkpointProgram };
    const project = await TrainingProject.create(client, { command, files });
    begun.push({ way, seconds, project_id: project.project_id, experiment: await project.train() });
  }
  await sleep(killAfter[size] * 1000);
  await first.end('SIGKILL');
  const again = await start(started, data);
  const next = await sessionOf(again);
  const figures: Figure[] = [];
  for (const { way, seconds, project_id, experiment } of begun) {
    const project = new TrainingProject(next.client, project_id);
    const isRestored = await Promise.race([
      project.succeeded(experiment, 500).then(
        () => true,
        (error: unknown) => {
          say(String(error));
          return false;
        },
      ),
      sleep(patienceSeconds * 1000, false),
    ]);
    // The log of a training that goes on has no end.
    const remark = (isRestored ? await project.log(experiment) : [])
      .map(({ message }) => message)
      .filter((message) => message.includes(' of step '))
      .join(', ');
    const title = `${way}, every ${seconds} s: attempts that had whole checkpoints`;
    figures.push(figure(title, isRestored ? 1 : 0, '', { atLeast: 1, remark }));
  }
  await again.end('SIGTERM');
  return figures;
}

export const proof: Proof = {
  name: 'checkpoints',
  title: 'Checkpoints of trainings whose host is killed',
  async prove(context) {
    const figures: Figure[] = [];
    for (const [index, round] of cases[context.size].entries()) {
      figures.push(...(await killAndGoOn(context, round, join(context.folder, `data-${index}`))));
      context.report?.(figures);
    }
    return figures;
  },
};
