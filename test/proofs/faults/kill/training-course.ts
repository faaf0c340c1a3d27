import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoint as readExperiment } from '../../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as putEnvironment } from '../../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as putVariable } from '../../../../functions/projects/variables/put-variable.endpoint.ts';
import { type Experiment, listExperiments } from '../../../../shared/data/experiments/experiment.ts';
import { isCompression, type JobRecord } from '../../../../shared/jobs/job-record.ts';
import type { Inventory } from '../../../support/inventory.ts';
import { must } from '../world/ask.ts';
import { newProject } from '../world/project.ts';
import { archiveOf } from '../world/source-archive.ts';
import type { Course, Ground, JobKind } from './course.ts';
import { earlierCheckpoint, recordEarlier } from './earlier-experiment.ts';
import { acknowledgedFile, loggedFile, lostOfTracked, trackedScript } from './tracked-script.ts';

/** What a training begins with that gets the variables of its project. */
const secret = `[ "$TOKEN" = "a secret of the project" ] || exit 5
`;
/** What the training does: node 0 says that it ran, writes all kinds of output, and takes its time. Each run writes other bytes. */
const script = `[ "$1" = again ] && { shift; [ "$(cat "$CHECKPOINT_DIR/${earlierCheckpoint}")" = x ] || exit 6; }
[ "\${NODE_RANK:-0}" = 0 ] && echo "$EXPERIMENT_ID" >> "$1"
echo began
echo '{"name":"accuracy","value":0.5,"step":1}' >> "$METRICS_FILE"
date +%N > "$CHECKPOINT_DIR/last.bin"
date +%N > "$OUTPUT_DIR/model.bin"
echo table > "$OUTPUT_DIR/table.csv"
sleep "$2"
echo '{"name":"accuracy","value":0.9,"step":2}' >> "$METRICS_FILE"
echo done
`;

/** An npm that installs one file without the second that the real one takes. */
const npm = (seconds: number): string => `#!/bin/sh
[ "$1" = --version ] && exit 0
mkdir -p node_modules/pkg && echo "exports.x = 1" > node_modules/pkg/index.js
echo '{"packages":{"node_modules/pkg":{"version":"1.0.0","integrity":"sha512-x"}}}' > node_modules/.package-lock.json
sleep ${seconds}
`;

const isRunning = ({ status, status_reason }: JobRecord): boolean =>
  status === 'RUNNING' && status_reason === null;

type TrainingCourse = Exclude<JobKind, 'prune' | 'quantize'>;

/** Where somebody cancels it: while its command runs, or while its environment is built. */
const underWay: Readonly<Record<TrainingCourse, (record: JobRecord) => boolean>> = {
  train: isRunning,
  tracked: isRunning,
  rerun: isRunning,
  build: ({ status_reason }) => status_reason === 'Preparing the environment.',
  cluster: ({ status_reason }) => status_reason === 'The environment is being built.',
};

function lacking(
  { records, objects }: Inventory,
  { experiment_id }: Experiment,
  files: readonly string[],
): string[] {
  const own = records.filter(({ pk }) => pk === `JOB#${experiment_id}`);
  const paths = own.filter(({ record_type }) => record_type === 'artifact').map(({ sk }) => sk);
  const stored = new Set(objects.map(({ key }) => key));
  const lost = own.filter(({ object }) => object !== undefined && !stored.has(String(object)));
  return [
    ...(paths.join() === files.map((file) => `ARTIFACT#${file}`).join()
      ? []
      : [`its artifacts are ${paths.join()}`]),
    ...lost.map(({ sk }) => `the object of ${sk}`),
    ...(own.some(({ sk }) => sk.startsWith('LOG#')) ? [] : ['its log']),
  ];
}

const againOf = ({ project_id, experiment_id }: Experiment, token: string) => ({
  path: { project_id, experiment_id },
  query: { overrides: '{"epochs":5}' },
  token,
});

/** A project that trains, in one container or on a cluster, with an environment to be built or without. */
export async function trainingCourse(
  kind: TrainingCourse,
  { service, token, user_id, scenario, folder, witness, isWithoutVariables = false }: Ground,
): Promise<Course> {
  const seconds = scenario === 'cancelled' ? 3 : 0.05;
  const isRerun = kind === 'rerun';
  const hasBuild = kind === 'build' || kind === 'cluster';
  const command = `sh train.sh ${isRerun ? 'again ' : ''}${witness} ${seconds}`;
  const acknowledged = kind === 'tracked' ? await acknowledgedFile(folder) : undefined;
  const parts = [
    isWithoutVariables ? '' : secret,
    script,
    acknowledged === undefined ? '' : trackedScript(acknowledged),
  ];
  const archive = archiveOf({ 'train.sh': parts.join('') });
  const files = [...(acknowledged === undefined ? [] : [loggedFile]), 'model.bin', 'table.csv'];
  const project_id = await newProject(service, token, command, await archive);
  const neighbour_id = await newProject(service, token, 'true');
  const path = { project_id };
  if (!isWithoutVariables)
    await must(putVariable, service.environment, {
      path: { project_id, name: 'TOKEN' },
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ value: 'a secret of the project' }),
      token,
    });
  const programs = join(folder, 'programs');
  if (hasBuild) {
    await mkdir(programs);
    await writeFile(join(programs, 'npm'), npm(seconds));
    for (const one of [programs, join(programs, 'npm')]) await chmod(one, 0o755);
    const query = { entry_point_command: command, env_type: 'node', dependencies: 'pkg' };
    await must(putEnvironment, service.environment, { path, query, token });
  }
  const earlier = isRerun ? await recordEarlier(service, project_id, user_id) : undefined;
  return {
    create:
      kind === 'cluster'
        ? { endpoint: 'trainRemote', question: { path, query: { nodes: '2' }, token } }
        : earlier === undefined
          ? { endpoint: 'train', question: { path, query: { config: 'train.yaml' }, token } }
          : { endpoint: 'rerun', question: againOf(earlier, token) },
    cancel: (record) => ({
      endpoint: 'cancelExperiment',
      question: {
        path: { project_id, experiment_id: isCompression(record) ? '' : record.experiment_id },
        token,
      },
    }),
    records: async () =>
      (await listExperiments(service.records, project_id, {})).items.filter(
        ({ experiment_id }) => experiment_id !== earlier?.experiment_id,
      ),
    isUnderWay: underWay[kind],
    lacking: (inventory, record) => (isCompression(record) ? [] : lacking(inventory, record, files)),
    lost: async (record) => {
      if (isCompression(record)) return [];
      const tracked = acknowledged === undefined ? [] : await lostOfTracked(service, acknowledged, record);
      if (record.status !== 'SUCCEEDED') return tracked;
      const { project_id, experiment_id } = record;
      const { best } = await must(readExperiment, service.environment, {
        path: { project_id, experiment_id },
        token,
      });
      return best?.value === 0.9 ? tracked : [...tracked, `its best value is ${best?.value}`];
    },
    hostEnvironment: !hasBuild ? {} : { PATH: `${programs}:${process.env['PATH']}` },
    neighbours: [neighbour_id],
  };
}
