import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installWheel, wheelName } from '../../functions/service/wheel-name.ts';
import type { LocalService } from '../support/local-service.ts';
import { runMps } from '../support/mps.ts';
import { everySample } from '../support/samples.ts';
import { signedInService } from './signed-in-service.ts';

const run = promisify(execFile);
const digits = join(import.meta.dirname, '../fixtures/onnx/digits.onnx');
let scratch: string;
let folder: string;
let service: LocalService;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'mps-python-'));
  folder = join(scratch, 'digits $(touch bad)');
  await mkdir(folder);
  service = await signedInService(join(scratch, 'data'), scratch);
  const wheel = await fetch(`${service.url}/cli/${wheelName}`);
  await writeFile(join(scratch, wheelName), Buffer.from(await wheel.arrayBuffer()));
  await copyFile(digits, join(folder, 'digits.onnx'));
  await writeFile(join(folder, 'train.yaml'), 'lr: 0.1\nname: first\n');
  await writeFile(join(folder, "ü '`touch bad`;.txt"), 'a name like others');
  await writeFile(
    join(folder, 'sweep.yaml'),
    'metric: loss\nmethod: grid\nparameters: { lr: { values: [0.1, 0.3] } }\nparallel: 2\n',
  );
  await writeFile(join(folder, 'train.py'), program);
});

afterAll(async () => {
  await service?.end('SIGTERM');
  await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

const program = `import json, os, shutil, sys
values = dict(line.split(": ") for line in open(os.environ["CONFIG_PATH"]).read().split("\\n") if line)
for step in range(3):
    print("step", step, values["name"])
    with open(os.environ["METRICS_FILE"], "a") as file:
        print(json.dumps({"step": step, "loss": float(values["lr"]) / (step + 1)}), file=file)
os.makedirs(os.path.join(os.environ["OUTPUT_DIR"], "model"))
shutil.copy("digits.onnx", os.path.join(os.environ["OUTPUT_DIR"], "model/digits.onnx"))
if "--fail" in sys.argv:
    raise ValueError("no data")
`;

/** Variables of a person who has Python and a Node, and signed in by the command. */
const environment = () => ({
  PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  HOME: scratch,
  PYTHONDONTWRITEBYTECODE: '1',
});

/** Runs a program in the folder with the wheel as the service hands it out, and returns what it prints as JSON. */
async function python(script: string) {
  const env = { ...environment(), PYTHONPATH: join(scratch, wheelName) };
  const { stdout } = await run('python3', ['-c', `import json, mps\nservice = mps.connect()\n${script}`], {
    cwd: folder,
    env,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

describe('a program of Python', () => {
  test('trains a folder as the command does, to the byte of its archive, and reads what came of it', async () => {
    const found = await python(`
run = service.run("train.py", params={"lr": 0.5, "name": "007"}, tags={"by": "python"}, project="both", wait=True)
again = run.rerun(params={"lr": 0.25}, wait=True)
try:
    service.run("train.py --fail", project="both", wait=True)
    failed = None
except mps.Error as error:
    failed = [str(error), error.run.record["params"]["lr"]]
listed = [one.name for one in service.runs("both", "loss < 0.2 and tags.by = python", order="-loss")]
points = run.metrics("loss")
pulled = run.pull("model/")
print(json.dumps({
    "status": run.status, "params": run.params, "source": run.record["source_sha256"], "values": points.values, "steps": points.steps,
    "again": again.params["lr"], "failed": failed, "listed": listed, "log": list(run.logs()), "pulled": str(pulled),
    "curve": "data:image/svg+xml;base64," in run._repr_html_(), "run": run.id, "name": run.name,
}))`);
    const options = { folder, home: scratch };
    const ran = await runMps(['run', '-p', 'both', '-d', '--json'], options);

    expect(found).toMatchObject({
      status: 'SUCCEEDED',
      params: { lr: '0.5', name: '007' },
      values: [0.5, 0.25, 0.5 / 3],
      steps: [0, 1, 2],
      again: '0.25',
      failed: [expect.stringMatching(/ended FAILED: ValueError: no data/), '0.1'],
      listed: [found.name],
      pulled: `${found.run}/model`,
      curve: true,
    });
    expect(found.log).toEqual(expect.arrayContaining(['step 0 "007"']));
    expect(await readFile(join(folder, found.pulled, 'digits.onnx'))).toEqual(await readFile(digits));
    expect(JSON.parse(ran.stdout).source_sha256).toBe(found.source);
  });

  test.runIf(everySample)('sweeps, registers the model of the best, and asks it', async () => {
    const found = await python(`
sweep = service.sweep("sweep.yaml", project="swept")
best = next(run for run in sweep.runs if run.params["lr"] == str(sweep.best.params["lr"]))
best.register("asked", "model/digits.onnx")
model = service.models["asked"].serve()
(described,) = service.request("GET", "/v2/models/asked")["inputs"]
image = 0.5
for length in reversed(described["shape"][1:]):
    image = [image] * length
answer = service.infer("asked", {described["name"]: image})
try:
    service.infer("asked", wrong=[1])
except mps.Error as error:
    refused = str(error)
outputs = {name: [len(value), len(value[0])] for name, value in answer.items()}
print(json.dumps({"best": sweep.best.params, "outputs": outputs, "refused": refused, "names": [one.name for one in service.models]}))`);

    expect(found).toMatchObject({ best: { lr: 0.1 }, names: ['asked'] });
    expect(Object.values(found.outputs)).toEqual([[1, 10]]);
    expect(found.refused).toMatch(/^The model asked has no input wrong\. It has: \S+ FP32 \[/);
  });
});

/** Whether pip gets what executes notebooks: `npm test` asks no package index. */
async function installedNotebook(): Promise<string | undefined> {
  if (!everySample) return undefined;
  const venv = await mkdtemp(join(tmpdir(), 'mps-kernel-'));
  try {
    await run('python3', ['-m', 'venv', venv]);
    await run(join(venv, 'bin/python'), [
      ...['-m', 'pip', 'install', '--quiet', '--retries', '0', 'papermill', 'ipykernel', 'pandas'],
    ]);
    return venv;
  } catch {
    await rm(venv, { recursive: true, force: true });
    return undefined;
  }
}

const venv = await installedNotebook();

describe.runIf(venv !== undefined)('a notebook', () => {
  afterAll(() => rm(venv ?? '', { recursive: true, force: true }));

  test('shows a training with its curve while it waits, and tables of pandas', async () => {
    const cells = [
      'import mps\nservice = mps.connect()\nrun = service.run("train.py", project="<b>notebook", wait=True)',
      'run',
      'service.runs("<b>notebook").df()[["name", "params.lr", "metrics.loss"]].to_dict("records")',
      'run.metrics("loss").df().dtypes["time"].kind',
      'import numpy\nm = run.register("kernel", "model/digits.onnx")["model_name"]\nservice.models[m].serve()',
      'shape = service.request("GET", f"/v2/models/{m}")["inputs"][0]\n[(v.shape, str(v.dtype)) for v in service.infer(m, {shape["name"]: numpy.zeros([2, *shape["shape"][1:]])}).values()]',
    ];
    const notebook = {
      cells: cells.map((source, index) => ({
        ...{
          cell_type: 'code',
          id: `cell${index}`,
          source,
          outputs: [],
          execution_count: null,
          metadata: {},
        },
      })),
      metadata: { kernelspec: { name: 'python3', language: 'python', display_name: 'Python' } },
      ...{ nbformat: 4, nbformat_minor: 5 },
    };
    await writeFile(join(folder, 'tried.ipynb'), JSON.stringify(notebook));
    const bin = join(venv ?? '', 'bin');
    const env = { ...environment(), PATH: `${bin}:${environment().PATH}` };
    const [, wheel = ''] = /"(.*)"/.exec(installWheel(service.url)) ?? [];

    await run(join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', '--no-index', wheel], { env });
    await run(join(bin, 'python'), ['-m', 'papermill', '--no-progress-bar', 'tried.ipynb', 'done.ipynb'], {
      cwd: folder,
      env,
    });
    const done = JSON.parse(await readFile(join(folder, 'done.ipynb'), 'utf8'));

    const shown = (index: number, type: string): string =>
      done.cells[index].outputs
        .map(({ data = {} }: { data?: Record<string, string | string[]> }) =>
          [data[type] ?? ''].flat().join(''),
        )
        .join('');
    const printed = done.cells[0].outputs.map(({ text = '' }) => [text].flat().join('')).join('');
    expect(printed).toContain('step 2 first');
    expect(shown(0, 'text/html')).toContain('SUCCEEDED');
    expect(shown(1, 'text/html')).toContain("src='data:image/svg+xml;base64,");
    expect(shown(1, 'text/html')).not.toContain('<script');
    expect(shown(2, 'text/plain')).toMatch(/'name': '\S+', 'params\.lr': 0\.1, 'metrics\.loss': 0\.033/);
    expect(shown(3, 'text/plain')).toBe("'M'");
    expect(shown(5, 'text/plain')).toBe("[((2, 10), 'float32')]");
  });
});
