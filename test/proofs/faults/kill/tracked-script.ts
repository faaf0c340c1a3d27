import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findArtifact } from '../../../../shared/data/experiments/artifact.ts';
import type { Experiment } from '../../../../shared/data/experiments/experiment.ts';
import { readTracking } from '../../../../shared/data/experiments/tracking.ts';
import type { Service } from '../world/service.ts';
import { everyPoint } from './every-point.ts';

/** A file that the program logs by MLflow's API. */
export const loggedFile = 'logged.txt';

/** Logs as an MLflow client does, and notes what was acknowledged in a file: a line of JSON each. */
export const trackedScript = (acknowledged: string): string => `python3 - <<'PROGRAM'
import json, os, time, urllib.request
uri, run, project = (os.environ['MLFLOW_' + name] for name in ('TRACKING_URI', 'RUN_ID', 'EXPERIMENT_ID'))
def send(method, path, data):
    headers = {'Authorization': 'Bearer ' + os.environ['MLFLOW_TRACKING_TOKEN']}
    request = urllib.request.Request(uri + '/api/2.0/' + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer: answer.read()
def note(what):
    with open('${acknowledged}', 'a') as file: file.write(json.dumps(what) + '\\n')
def log(path, **body): send('POST', 'mlflow/runs/' + path, json.dumps({'run_id': run, **body}).encode())
began = time.time_ns() // 1000000
log('log-batch', params=[{'key': 'depth', 'value': '7'}], tags=[{'key': 'team', 'value': 'vision'}])
note({'param': 'depth'})
for step in range(6):
    point = {'key': 'loop', 'value': step / 8, 'step': step, 'timestamp': began + step}
    # Once more, as a client does whose answer was late.
    for _ in range(2 if step == 3 else 1): log('log-metric', **point)
    note({'step': step, 'time': began + step})
send('PUT', 'mlflow-artifacts/artifacts/' + project + '/' + run + '/artifacts/${loggedFile}', b'bytes')
note({'file': '${loggedFile}'})
PROGRAM
`;

type Acknowledged = { param: string } | { step: number; time: number } | { file: string };

/** A file in which the program notes what was acknowledged. */
export async function acknowledgedFile(folder: string): Promise<string> {
  const file = join(folder, 'acknowledged');
  await writeFile(file, '');
  await chmod(file, 0o666);
  return file;
}

/** What was acknowledged to the program and is not there, or is there twice. */
export async function lostOfTracked(
  { records }: Service,
  acknowledged: string,
  { project_id, experiment_id }: Experiment,
): Promise<string[]> {
  const lines = (await readFile(acknowledged, 'utf8')).split('\n').filter((line) => line !== '');
  const noted = lines.map((line): Acknowledged => JSON.parse(line));
  const stored: string[] = [];
  for await (const points of everyPoint(records, experiment_id, { names: ['loop'] }))
    stored.push(...points.map(({ step, time }) => `${step} at ${time}`));
  const twice = stored.filter((point, index) => stored.indexOf(point) !== index);
  const { fields } = await readTracking(records, project_id, experiment_id);
  const faults = twice.map((point) => `twice: the point ${point}`);
  for (const one of noted) {
    if ('step' in one && !stored.includes(`${one.step} at ${one.time}`))
      faults.push(`lost: the acknowledged point ${one.step}`);
    if ('param' in one && (fields?.params['depth'] !== '7' || fields.tags['team'] !== 'vision'))
      faults.push('lost: acknowledged params and tags');
    if ('file' in one && (await findArtifact(records, experiment_id, one.file)) === undefined)
      faults.push(`lost: the acknowledged file ${one.file}`);
  }
  return faults;
}
