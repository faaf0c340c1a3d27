import type { Canaries } from './canaries.ts';
import { follow } from './follow.ts';
import { newSecretProject } from './secret-project.ts';
import type { Witness } from './witness.ts';

const json = { 'Content-Type': 'application/json' };

/** Shows its secrets in every way that a program does by mistake, also to MLflow, and then fails with one. */
const careless = `env
printf '%s' "$TOKEN" | cut -c1-20; printf '%s\\n' "$TOKEN"
for part in 1 9 17 25; do printf '%s' "$TOKEN" | cut -c$part-$((part + 7)) | tr -d '\\n'; sleep 0.1; done; echo
echo "$KEYS" >&2
printf '%s' "$TOKEN" | base64
echo "{\\"name\\": \\"accuracy $TOKEN\\", \\"value\\": 0.5}" >> "$METRICS_FILE"
python3 - <<'PROGRAM'
import json, os, urllib.request
secret = os.environ['TOKEN']
pair = {'key': 'leaked', 'value': secret}
body = {'run_id': os.environ['MLFLOW_RUN_ID'], 'params': [pair], 'tags': [pair]}
headers = {'Authorization': 'Bearer ' + os.environ['MLFLOW_TRACKING_TOKEN']}
url = os.environ['MLFLOW_TRACKING_URI'] + '/api/2.0/mlflow/runs/log-batch'
def send(body): urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()
send(body)
# Refused, by its name.
send({**body, 'metrics': [{'key': secret, 'value': 1, 'timestamp': 1}]})
PROGRAM
env -u TOKEN -u KEYS -u PIP_INDEX_URL -u OTHER > "$OUTPUT_DIR/environment"
sleep 3
echo "ValueError: no access with $TOKEN" >&2
exit 1
`;

/** Looks at what it can of its neighbours. */
const curious = `sleep 1
cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
sleep 1
`;

/** Requests that are refused or malformed, each with a secret of its own. */
async function refusals(witness: Witness, canaries: Canaries, token: string, path: string): Promise<void> {
  let count = 0;
  const refused = () => {
    count += 1;
    return canaries.make(`variable ${count} of those that were refused`);
  };
  const one = `${path}/variables/OTHER`;
  const put = (body: string, headers: Record<string, string> = json) =>
    witness.send('PUT', one, { token, headers, body });
  await witness.send('PUT', one, { token, query: { value: refused() } });
  await witness.send('PUT', `${path}/variables/PATH`, {
    token,
    headers: json,
    body: JSON.stringify({ value: refused() }),
  });
  await put(JSON.stringify({ value: refused(), secret: refused() }));
  await put(JSON.stringify({ value: [refused()] }));
  await put(JSON.stringify({ value: refused().repeat(1000) }));
  await put(JSON.stringify({ value: `\0${refused()}` }));
  await put(`{"value": "${refused()}`);
  await put(`"${refused()}"`);
  await put(refused(), { 'Content-Type': 'text/plain' });
  await put(JSON.stringify({ value: refused() }), { ...json, 'If-Match': '"9-x"' });
  await put(JSON.stringify({ value: refused() }), { ...json, 'Idempotency-Key': 'key-of-a-variable' });
  const all = [{ name: 'A', value: refused() }, { name: 'A', value: refused() }, { name: 'NEW' }];
  const body = JSON.stringify({ variables: all });
  await witness.send('PUT', `${path}/variables`, { token, headers: json, body });
}

/** Secret variables, used carelessly by one project and looked for by another. Answers how the trainings ended. */
export async function tourVariables(
  witness: Witness,
  canaries: Canaries,
  token: string,
): Promise<Record<string, string>> {
  const own = await newSecretProject(witness, token, { 'train.sh': careless });
  const other = await newSecretProject(witness, token, { 'train.sh': curious });
  const lines = [canaries.make('a line of a secret variable'), canaries.make('another line of it')];
  const variables = [
    { name: 'TOKEN', value: canaries.make('a secret variable') },
    { name: 'KEYS', value: `-----BEGIN-----\n${lines.join('\n')}\n-----END-----\n` },
    {
      name: 'PIP_INDEX_URL',
      value: `https://ann:${canaries.make('the password of an index')}@pypi.org/simple`,
    },
    { name: 'MODE', value: 'fast', secret: false },
  ];
  const body = JSON.stringify({ variables });
  await witness.must('PUT', `${own}/variables`, { token, headers: json, body });
  const one = JSON.stringify({ value: variables[0]?.value });
  await witness.must('PUT', `${own}/variables/TOKEN`, { token, headers: json, body: one });
  await refusals(witness, canaries, token, own);
  for (const path of [`${own}/variables`, `${own}/variables/TOKEN`, own, `${own}/environment`])
    await witness.must('GET', path, { token });

  const begin = async (
    path: string,
    what = 'train',
    query: Record<string, string> = { config: 'train.yaml' },
  ) => {
    const { experiment_id } = await witness.must('POST', `${path}/${what}`, { token, query });
    const experiment = `${path}/experiments/${experiment_id}`;
    const followed = await follow(witness, token, experiment);
    const { params } = await witness.must('GET', experiment, { token });
    return { experiment_id, params, ...followed };
  };
  const [shown, neighbour] = await Promise.all([begin(own), begin(other)]);
  const again = await begin(own, `experiments/${shown.experiment_id}/rerun`, { overrides: '{"epochs":4}' });
  for (const { log } of [shown, again])
    for (const text of ['TOKEN=***', 'MODE=fast'])
      if (!log.includes(text)) throw new Error(`the command did not show ${text}`);
  for (const { params } of [shown, again])
    if (params.leaked !== '***') throw new Error('the command did not log its secret as a param');
  if (!neighbour.log.includes('EXPERIMENT_ID='))
    throw new Error('the neighbour did not see its own variables');
  await witness.must('DELETE', `${own}/variables/TOKEN`, { token });
  await witness.must('DELETE', `${own}/variables`, { token });
  return {
    'a careless command': shown.status,
    'the same again': again.status,
    'a curious neighbour': neighbour.status,
  };
}
