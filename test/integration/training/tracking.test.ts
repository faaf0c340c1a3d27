import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { endpoint as downloadArtifact } from '../../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as searchExperiments } from '../../../functions/experiments/search/search-experiments.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { loseHost, retriedDefinition } from '../../support/lost-host.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { eventOf, hparamsOf, recordOf, scalarOf } from '../../unit/runner/metric-files/event-files.ts';
import { mlflowCaller } from '../mlflow/mlflow-caller.ts';
import { newProject } from '../projects/new-project.ts';

/** What an MLflow client sends, by Python's own HTTP client. */
const client = `
import json, os, urllib.error, urllib.request
uri, run, project = (os.environ['MLFLOW_' + name] for name in ('TRACKING_URI', 'RUN_ID', 'EXPERIMENT_ID'))
def send(method, path, body=None, token=os.environ['MLFLOW_TRACKING_TOKEN']):
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(uri + '/api/2.0/' + path, data, {'Authorization': 'Bearer ' + token}, method=method)
    try:
        with urllib.request.urlopen(request) as answer: return answer.status, answer.read()
    except urllib.error.HTTPError as error: return error.code, error.read()
def call(method, path, body=None):
    status, text = send(method, path, body)
    assert status == 200, (path, status, text)
    return json.loads(text)
def post(path, **body): return call('POST', 'mlflow/' + path, body)
def put(folder, name, data): return call('PUT', 'mlflow-artifacts/artifacts/' + folder + '/' + name, data)
def refused(method, path, body=None, status=403):
    found, text = send(method, path, body)
    print('refused', found == status or (path, found, text[:200]))
`;

const own = `${client}
post('runs/update', run_id=run, status='RUNNING')
post('runs/log-batch', run_id=run, params=[{'key': 'depth', 'value': '7'}], tags=[{'key': 'team', 'value': 'vision'}],
     metrics=[{'key': 'accuracy', 'value': step / 10, 'timestamp': 1700000000000 + step, 'step': step} for step in range(10)])
with open(os.environ['METRICS_FILE'], 'a') as metrics: metrics.write('{"name": "loss", "value": 0.5, "step": 1}\\n')
for _ in range(2): post('runs/log-metric', run_id=run, key='auc', value='NaN', timestamp=1700000000000, step=3)
assert call('GET', 'mlflow/experiments/get-by-name?experiment_name=any')['experiment']['experiment_id'] == project
root = call('GET', 'mlflow/runs/get?run_id=' + run)['run']['info']['artifact_uri'].split(':/', 1)[1]
put(root, 'notes/hello.txt', b'hello')
assert post('logged-models/search', experiment_ids=[project]) == {'models': []}
put(root, 'notes/hello.txt', b'hello again')
# A client of MLflow that was told to send parts begins so, and knows these words.
assert os.environ['MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD'] == 'true'
assert int(os.environ['MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE']) < 4.4e6
_, said = send('POST', 'mlflow-artifacts/mpu/create/' + root, {'path': 'large.bin', 'num_parts': 2})
assert json.loads(said)['message'].startswith('Multipart upload is not supported for the current artifact repository'), said
put(root, 'large.bin', b'x' * 20000000)
url = call('GET', 'mlflow-artifacts/presigned/' + root + '/notes/hello.txt')['url']
assert urllib.request.urlopen(url).read() == b'hello again'
child = post('runs/create', experiment_id=project, run_name='child', tags=[])['run']['info']
post('runs/log-metric', run_id=child['run_id'], key='accuracy', value=0.3, timestamp=1700000000000)
# MLflow's own examples search the children of a run at its end.
parts = post('runs/search', experiment_ids=[project], filter="tags.mlflow.parentRunId = '" + run + "' AND metrics.accuracy < 0.5")
assert [one['info']['run_name'] for one in parts['runs']] == ['child'], parts
assert len(post('runs/search', experiment_ids=[project], order_by=['metrics.accuracy DESC'], max_results=1)['runs']) == 1
assert [one['experiment_id'] for one in post('experiments/search', max_results=10)['experiments']] == [project]
put(child['artifact_uri'].split(':/', 1)[1], 'child.txt', b'of the child')
model = post('logged-models', experiment_id=project, name='model', source_run_id=run)['model']['info']
put(model['artifact_uri'].split(':/', 1)[1], 'MLmodel', b'flavors: {}')
call('PATCH', 'mlflow/logged-models/' + model['model_id'], {'model_id': model['model_id'], 'status': 'LOGGED_MODEL_READY'})
files = call('GET', 'mlflow/logged-models/' + model['model_id'] + '/artifacts/directories')['files']
assert [file['path'] for file in files] == ['MLmodel'], files
post('runs/update', run_id=run, status='FINISHED', end_time=1700000000000)
print('logged')
`;

async function ended(service: TrainingService, script: string, variables: Record<string, string> = {}) {
  const names = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const command = ['env', ...names, 'python3', 'train.py'].join(' ');
  const project_id = await service.project({ command, files: { 'train.py': script } });
  const as = service.developer;
  const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
  const { experiment_id } = begun.json;
  const experiment = await service.ended(project_id, experiment_id);
  return { project_id, experiment_id, experiment, log: await service.log(project_id, experiment_id) };
}

test('a program logs to its own experiment by MLflow’s API', async () => {
  const service = await trainingService();
  const { developer: as } = service;
  const { project_id, experiment_id, experiment, log } = await ended(service, own);
  expect(experiment, log).toMatchObject({
    status: 'SUCCEEDED',
    params: { epochs: '3', depth: '7' },
    tags: { team: 'vision' },
    best: { metric: 'accuracy', value: 0.9, step: 9 },
    metrics: { accuracy: { count: 10, last: 0.9 }, auc: { count: 1 }, loss: { count: 1, last: 0.5 } },
  });
  const path = { project_id, experiment_id };
  const { json: points } = await service.call(readMetrics, { path, as });
  expect(points).toHaveLength(12);
  const { json: artifacts } = await service.call(listArtifacts, { path, as });
  const sizes = Object.fromEntries(
    artifacts.map((one: { path: string; size: number }) => [one.path, one.size]),
  );
  expect(sizes).toMatchObject({ 'notes/hello.txt': 11, 'large.bin': 20_000_000 });
  expect(Object.keys(sizes).filter((name) => /^models\/m-.*\/MLmodel$/.test(name))).toHaveLength(1);
  const found = await service.call(searchExperiments, {
    query: { project_id, filter: `tags."mlflow.parentRunId" = '${project_id}-${experiment_id}'` },
    as,
  });
  expect(found.json, found.text).toMatchObject([{ name: 'child', kind: 'logged', status: 'SUCCEEDED' }]);
  const child = { project_id, experiment_id: found.json[0].experiment_id, path: 'child.txt' };
  const file = await service.call(downloadArtifact, { path: child, as });
  expect(await (await fetch(file.headers['location'] ?? '')).text()).toBe('of the child');
});

test.runIf(everySample)(
  'what SummaryWriter.add_hparams writes are params and metrics of the run',
  async () => {
    const service = await trainingService();
    const file = Buffer.concat([
      recordOf(eventOf(0, hparamsOf({ lr: 0.1, optimizer: 'adam', epochs: 9 }))),
      recordOf(eventOf(0, scalarOf('hp/acc', 0.9))),
    ]);

    const { experiment, log } = await ended(
      service,
      `import base64\nopen('events.out.tfevents.1.host', 'wb').write(base64.b64decode('${file.toString('base64')}'))`,
    );

    expect(experiment, log).toMatchObject({
      // The configuration stated this one.
      params: { epochs: '3', lr: '0.1', optimizer: 'adam' },
      metrics: { 'hp/acc': { last: 0.9 } },
      metrics_source: 'tensorboard',
    });
  },
);

const hostile = `${client}
import concurrent.futures, socket, time
other, theirs, foreign = (os.environ[name] for name in ('OTHER', 'THEIRS', 'FOREIGN'))
metric = {'key': 'm', 'value': 1, 'timestamp': 1}
for target in (other, theirs):
    refused('GET', 'mlflow/runs/get?run_id=' + target)
    refused('POST', 'mlflow/runs/log-metric', {'run_id': target, **metric})
    refused('POST', 'mlflow/runs/log-batch', {'run_id': target, 'params': [{'key': 'a', 'value': 'b'}]})
    refused('POST', 'mlflow/runs/set-tag', {'run_id': target, 'key': 'a', 'value': 'b'})
    refused('POST', 'mlflow/runs/update', {'run_id': target, 'status': 'FAILED'})
    refused('GET', 'mlflow/metrics/get-history?metric_key=m&run_id=' + target)
    refused('GET', 'mlflow/artifacts/list?run_id=' + target)
    refused('POST', 'mlflow/logged-models', {'experiment_id': project, 'name': 'm', 'source_run_id': target})
    place = target.split('-')[0] + '/' + target + '/artifacts/a.txt'
    refused('PUT', 'mlflow-artifacts/artifacts/' + place, b'mine')
    refused('GET', 'mlflow-artifacts/artifacts/' + place)
    refused('GET', 'mlflow-artifacts/presigned/' + place)
    refused('POST', 'mlflow-artifacts/mpu/create/' + place, {'path': 'a.txt', 'num_parts': 1})
    refused('POST', 'mlflow/runs/log-inputs', {'run_id': target, 'datasets': []})
    refused('POST', 'mlflow/runs/create', {'experiment_id': target.split('-')[0] + '/../' + foreign})
    refused('POST', 'mlflow/logged-models', {'experiment_id': target.split('-')[0], 'name': 'm', 'source_run_id': target})
refused('POST', 'mlflow/runs/create', {'experiment_id': foreign})
refused('GET', 'mlflow/experiments/get?experiment_id=' + foreign)
refused('POST', 'mlflow/runs/search', {'experiment_ids': [project, foreign]})
assert [one['info']['run_id'] for one in post('runs/search', experiment_ids=[project])['runs']] == [run]
for path in ('runs/delete', 'runs/restore', 'experiments/delete', 'experiments/restore', 'experiments/update', 'experiments/set-experiment-tag'):
    refused('POST', 'mlflow/' + path, {'run_id': run, 'experiment_id': project, 'name': 'x'})
# The registry, whose model is there.
for path in ('registered-models/create', 'registered-models/rename', 'registered-models/set-tag', 'registered-models/alias',
             'model-versions/create', 'model-versions/set-tag', 'model-versions/transition-stage'):
    refused('POST', 'mlflow/' + path, {'name': 'churn', 'version': '1', 'source': 's3://x/y', 'key': 'a', 'value': 'b',
                                       'alias': 'champion', 'stage': 'Production', 'new_name': 'mine'})
for path in ('registered-models/get', 'registered-models/alias', 'registered-models/search', 'model-versions/get',
             'model-versions/get-download-uri', 'model-versions/search'):
    refused('GET', 'mlflow/' + path + '?name=churn&version=1&alias=champion')
for path in ('registered-models/delete', 'model-versions/delete', 'registered-models/alias', 'registered-models/delete-tag'):
    refused('DELETE', 'mlflow/' + path, {'name': 'churn', 'version': '1', 'alias': 'champion', 'key': 'a'})
refused('PATCH', 'mlflow/registered-models/update', {'name': 'churn', 'description': 'mine'})
own = post('logged-models', experiment_id=project, name='own', source_run_id=run)['model']['info']['model_id']
refused('DELETE', 'mlflow/logged-models/' + own)
refused('DELETE', 'mlflow-artifacts/artifacts/' + project + '/' + run + '/artifacts/a.txt')
home = project + '/' + run + '/artifacts/'
for path in (home + '..%2f..%2fx', home + '../../x', home + 'a//b', home + '%00', home + 'a%5cb'):
    found, text = send('PUT', 'mlflow-artifacts/artifacts/' + path, b'mine')
    print('refused', found in (400, 404) or (path, found, text))
refused('PUT', 'mlflow-artifacts/artifacts/' + project + '/models/m-' + run + '/artifacts/x', b'mine')
refused('POST', 'mlflow/traces', {}, 404)
address = uri.split('//')[1].split(':')
print('refused', send('GET', 'mlflow/runs/get?run_id=' + run, token='guess')[0] == 401)
print('refused', send('GET', 'mlflow/runs/get?run_id=' + run, token=project)[0] == 401)
def huge():
    # Where the answer comes before the body, the connection may break first.
    try: return send('POST', 'mlflow/runs/log-batch', b'x' * 30000000)[0]
    except OSError: return 413
print('refused', huge() == 413)
def endless():
    # No length is said, and no end comes.
    one = socket.create_connection((address[0], int(address[1])))
    head = 'POST /api/2.0/mlflow/runs/log-batch HTTP/1.1\\r\\nHost: x\\r\\nTransfer-Encoding: chunked\\r\\nAuthorization: Bearer '
    one.sendall((head + os.environ['MLFLOW_TRACKING_TOKEN'] + '\\r\\n\\r\\n').encode())
    try:
        for _ in range(64): one.sendall(b'10000\\r\\n' + b'x' * 65536 + b'\\r\\n')
        return int(one.recv(100).split()[1])
    except OSError: return 413
print('refused', endless() == 413)
def slow():
    one = socket.create_connection((address[0], int(address[1])))
    one.sendall(b'POST /api/2.0/mlflow/runs/log-batch HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer '
                + os.environ['MLFLOW_TRACKING_TOKEN'].encode() + b'\\r\\nContent-Length: 1000\\r\\n\\r\\n{')
    return one
kept = [slow() for _ in range(4)]
# Thousands of connections in all, and more at once than the server takes.
for _ in range(15):
    idle = [socket.create_connection((address[0], int(address[1]))) for _ in range(200)]
    for one in idle: one.close()
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    list(pool.map(lambda step: post('runs/log-metric', run_id=run, key='mine', value=step, timestamp=1, step=step), range(40)))
print('supervisor', os.getppid() >= 0 and 'done')
`;

test('hostile calls of a program reach nothing but its own experiment', async () => {
  const service = await trainingService();
  const { developer: as } = service;
  const foreign = await newProject(service, as);
  const created = async (project_id: string) =>
    `${project_id}-${(await service.call(createExperiment, { path: { project_id }, body: '{}', headers: { 'Content-Type': 'application/json' }, as })).json.experiment_id}`;
  const beside = await service.project({ command: 'true' });
  const victims = { OTHER: await created(foreign), THEIRS: await created(beside), FOREIGN: foreign };
  const mlflow = mlflowCaller(service, as);
  const source = 's3://models/churn';
  await mlflow.post('registered-models/create', { name: 'churn' });
  await mlflow.post('model-versions/create', { name: 'churn', source });
  await mlflow.post('registered-models/alias', { name: 'churn', alias: 'champion', version: '1' });
  const others = async () => [
    (await mlflow.get('registered-models/search', {})).json,
    (await mlflow.get('model-versions/search', {})).json,
    (await mlflow.get('runs/get', { run_id: victims.OTHER })).json,
    (await mlflow.get('runs/get', { run_id: victims.THEIRS })).json,
    (await mlflow.post('runs/search', { experiment_ids: [foreign, beside] })).json,
    (await mlflow.get('artifacts/list', { run_id: victims.OTHER })).json,
  ];
  const before = await others();
  const { experiment, log } = await ended(service, hostile, victims);
  expect(await others()).toEqual(before);
  expect(before[0]).toMatchObject({ registered_models: [{ name: 'churn' }] });
  expect(
    log.split('\n').filter((line) => line.includes('refused') && !line.endsWith('refused True')),
  ).toEqual([]);
  expect(experiment, log).toMatchObject({ status: 'SUCCEEDED', metrics: { mine: { count: 40 } } });
  expect(log).toContain('supervisor done');
});

const firstRuns = `${client}
def create(**body): return post('runs/create', experiment_id=project, **body)['run']
nested = create(run_name='nested', tags=[{'key': 'mlflow.parentRunId', 'value': run}])['info']['run_id']
assert nested != run
refused('POST', 'mlflow/runs/create', {'experiment_id': project, 'tags': [{'key': '', 'value': 'x'}]}, 400)
request = dict(run_name='as Lightning does', start_time=1700000000000, tags=[{'key': 'team', 'value': 'vision'}])
first = create(**request)
assert (first['info']['run_id'], first['info']['run_name']) == (run, 'as Lightning does'), first
# The client repeats a request whose answer was lost.
assert create(**request)['info']['run_id'] == run
post('runs/log-metric', run_id=run, key='accuracy', value=0.5, timestamp=1700000000000)
second = create(**request)['info']['run_id']
assert second not in (run, nested) and create(**request)['info']['run_id'] == second
post('runs/update', run_id=run, status='FINISHED', end_time=1700000000000)
import wandb
assert wandb.init(name='of wandb').id and wandb.run._recorder.run_id not in (run, nested, second)
print('names', sorted(one['info']['run_name'] for one in post('runs/search', experiment_ids=[project])['runs']))
`;

test('the first run that a program begins is the experiment of its job', async () => {
  const service = await trainingService();
  const { experiment, log } = await ended(service, firstRuns);
  expect(log).toContain("names ['as Lightning does', 'as Lightning does', 'nested', 'of wandb']");
  expect(experiment, log).toMatchObject({
    status: 'SUCCEEDED',
    name: 'as Lightning does',
    tags: { team: 'vision' },
    best: { metric: 'accuracy', value: 0.5 },
  });
});

const pair = `${client}
import concurrent.futures, wandb
def first(number):
    # Bodies differ, because the same body again is a repeated request, and is answered with the same run.
    if number % 2 == 0: return post('runs/create', experiment_id=project, start_time=number)['run']['info']['run_id']
    return wandb.Run()._recorder.run_id
with concurrent.futures.ThreadPoolExecutor(6) as pool: ids = list(pool.map(first, range(6)))
print('own', ids.count(run))
`;

test.runIf(everySample)('of several runs that begin at once one is the experiment of the job', async () => {
  const service = await trainingService();
  const { log } = await ended(service, pair);
  expect(log).toContain('own 1\n');
});

const ranked = `${client}
import wandb
os.environ['RANK'] = '1'
print('rank 1', wandb.Run()._recorder.run_id == run)
os.environ['RANK'] = '0'
print('rank 0', wandb.Run()._recorder.run_id == run)
print('further', post('runs/create', experiment_id=project)['run']['info']['run_id'] == run)
`;

test.runIf(everySample)(
  'of the ranks of a program the first one records into the experiment of the job',
  async () => {
    const service = await trainingService();
    const { log } = await ended(service, ranked);
    expect(log).toContain('rank 1 False\nrank 0 True\nfurther False');
  },
);

test.runIf(everySample)('a run that a program takes up by its id is its first one', async () => {
  const service = await trainingService();
  const script = `${client}
post('runs/update', run_id=run, status='RUNNING')
print('further', post('runs/create', experiment_id=project)['run']['info']['run_id'] == run)
`;
  const { log } = await ended(service, script);
  expect(log).toContain('further False');
});

const interruptedSearch = `${client}
import time
first = post('runs/create', experiment_id=project, start_time=1700000000000)['run']['info']['run_id']
print('own' if first == run else 'other')
began = os.path.join(os.environ['CHECKPOINT_DIR'], 'began')
again = os.path.exists(began)
for name in (['third'] if again else ['first', 'second']):
    child = post('runs/create', experiment_id=project, run_name=name, tags=[])['run']['info']
    post('runs/log-metric', run_id=child['run_id'], key='accuracy', value=0.3, timestamp=1700000000000)
if not again:
    open(began, 'w').close()
    print('ready', flush=True)
    time.sleep(1000)
parts = post('runs/search', experiment_ids=[project], filter="tags.mlflow.parentRunId = '" + run + "'", order_by=['start_time ASC'])
print('children:', *[one['info']['run_name'] for one in parts['runs']])
`;

test.runIf(everySample)('a program that is retried finds the runs that it began before', async () => {
  const service = await trainingService({ jobDefinitions: [retriedDefinition] });
  const files = { 'train.py': interruptedSearch };
  const project_id = await service.project({ command: 'python3 train.py', files });
  // An experiment that somebody else records at the same time is none of the program's.
  const query = { config: 'train.yaml' };
  const begun = await service.call(train, { path: { project_id }, query, as: service.developer });
  const { experiment_id } = begun.json;
  await expect.poll(() => service.log(project_id, experiment_id)).toContain('ready');
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({
    name: 'foreign',
    tags: { 'mlflow.parentRunId': `${project_id}-${experiment_id}` },
  });
  await service.call(createExperiment, { path: { project_id }, body, headers, as: service.developer });
  await loseHost(service, project_id, experiment_id);

  const experiment = await service.ended(project_id, experiment_id);
  const log = await service.log(project_id, experiment_id);
  expect(experiment, log).toMatchObject({ status: 'SUCCEEDED', attempt: 2 });
  expect(log).toContain('children: first second third');
  expect(log).not.toContain('other');
});

test.runIf(everySample)('of a cluster node 0 records alone', async () => {
  const service = await trainingService();
  const { developer: as } = service;
  const script = `
import os, time
import socket
address = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))
if os.environ['NODE_RANK'] == '0':
    exec('''${client}''')
    post('runs/log-metric', run_id=run, key='m', value=1, timestamp=1)
    # The end of this node is the end of the job: the other one has printed its line by then.
    socket.create_server(('', address[1])).accept()
else:
    print(os.environ['MLFLOW_TRACKING_URI'].split('/')[0], 'MLFLOW_RUN_ID' in os.environ, flush=True)
    while True:
        try:
            socket.create_connection(address)
            break
        except ConnectionError: time.sleep(0.1)
`;
  const project_id = await service.project({ command: 'python3 train.py', files: { 'train.py': script } });
  const begun = await service.call(trainRemote, { path: { project_id }, as });
  const { experiment_id } = begun.json;
  const experiment = await service.ended(project_id, experiment_id);
  expect(experiment, await service.log(project_id, experiment_id)).toMatchObject({
    status: 'SUCCEEDED',
    metrics: { m: { count: 1 } },
  });
  await expect.poll(() => service.log(project_id, experiment_id, 1)).toContain('file: False');
});

test.runIf(everySample)('a tracking server of the project’s own choice stays', async () => {
  const service = await trainingService();
  const uri = `http://tracking.example/${randomUUID()}`;
  const script = "import os; print('uri', os.environ['MLFLOW_TRACKING_URI'], 'MLFLOW_RUN_ID' in os.environ)";
  const { log } = await ended(service, script, { MLFLOW_TRACKING_URI: uri });
  expect(log).toContain(`uri ${uri}`);
});
