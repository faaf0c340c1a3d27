import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { follow } from './follow.ts';
import { newSecretProject } from './secret-project.ts';
import { upload } from './upload.ts';
import type { Witness } from './witness.ts';

const root = join(import.meta.dirname, '../../../..');

/** Shows whatever a command can get at. */
const curious = `env
cat /proc/self/environ /proc/$PPID/environ /proc/1/environ /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
cat "$CONFIG_PATH"
cp "$CONFIG_PATH" "$OUTPUT_DIR/config"
env > "$OUTPUT_DIR/environment" 2>&1
echo '{"step": 1, "name": "accuracy", "value": 0.5}' >> "$METRICS_FILE"
`;

/** Waits for the end of a job and looks at everything that it left. */
async function followPages(witness: Witness, token: string, path: string) {
  const ended = await follow(witness, token, path);
  for (const accept of ['text/html', 'image/svg+xml', 'text/markdown'])
    await witness.send('GET', path, { token, headers: { Accept: accept } });
  return ended;
}

/** Commands of trainings, by how these end. */
const commands = {
  'a success': 'sh train.sh',
  'an exit code': 'sh -c "sh train.sh; exit 3"',
  'a signal': 'sh -c "sh train.sh; kill -KILL $$"',
  'no such command': 'there-is-no-such-command {config}',
};

/** Trainings that succeed and fail, and all that they leave. Answers how each one ended. */
export async function tourTrainings(
  witness: Witness,
  token: string,
  isShort: boolean,
): Promise<Record<string, string>> {
  const ends: Record<string, string> = {};
  const path = await newSecretProject(witness, token, { 'train.sh': curious });
  const trainings = Object.entries(commands).slice(0, isShort ? 2 : undefined);
  for (const [what, entry_point_command] of trainings) {
    const query = { entry_point_command, env_type: 'system', dependencies: 'none' };
    await witness.must('PUT', `${path}/environment`, { token, query });
    const begun = await witness.must('POST', `${path}/train`, { token, query: { config: 'train.yaml' } });
    const experiment = `${path}/experiments/${begun.experiment_id}`;
    const { status, log } = await followPages(witness, token, experiment);
    if (status === 'SUCCEEDED' && !log.includes('EXPERIMENT_ID='))
      throw new Error('the command did not show its environment');
    ends[what] = status;
    const artifact = await witness.send('GET', `${experiment}/artifacts/environment`, { token });
    const location = artifact.headers.get('location');
    if (location !== null) {
      const stored = await fetch(location);
      witness.inspect(`the artifact of ${what}`, Buffer.from(await stored.arrayBuffer()));
    }
  }

  return ends;
}

/** Optimizations that succeed and fail, with their receipts. Answers how each one ended. */
export async function tourOptimizations(witness: Witness, token: string): Promise<Record<string, string>> {
  const ends: Record<string, string> = {};
  const models = '/optimization/models/digits.onnx';
  await upload(witness, token, models, await readFile(join(root, 'test/fixtures/onnx/digits.onnx')), {
    file: 'model',
  });
  await witness.must('PUT', models, { token });
  const shapes = { inputs: '1x1x8x8', outputs: '1x10' };
  const strategies = {
    prune: { model_name: 'digits.onnx', ...shapes, strategy: 'magnitude_global', compression: '2' },
    quantize: { model_name: 'digits.onnx', strategy: 'dynamic', precision: '8' },
  };
  for (const [operation, query] of Object.entries(strategies)) {
    const { strategy_id } = await witness.must('POST', `/optimization/${operation}`, { token, query });
    const strategy = `/optimization/${operation}/strategies/${strategy_id}`;
    ends[operation] = (await followPages(witness, token, strategy)).status;
    await witness.send('GET', `${strategy}/model`, { token });
  }
  const refused = { ...strategies.prune, outputs: '1x11' };
  await witness.send('POST', '/optimization/prune', { token, query: refused });
  const wrong = { ...strategies.prune, exclude: 'no node' };
  const { strategy_id } = await witness.must('POST', '/optimization/prune', { token, query: wrong });
  const path = `/optimization/prune/strategies/${strategy_id}`;
  ends['wrong exclude'] = (await followPages(witness, token, path)).status;
  return ends;
}
