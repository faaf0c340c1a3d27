import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thisHost } from '../../shared/host/this-host.ts';
import type { LocalService } from '../support/local-service.ts';
import { type Ended, runMps, startMps } from '../support/mps.ts';
import { everySample } from '../support/samples.ts';
import { signedInService } from './signed-in-service.ts';

let scratch: string;
let checkout: string;
let service: LocalService;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'mps-programs-'));
  // The service keeps its data in a checkout. Jobs have a /tmp of their own, so it cannot lie there.
  await mkdir('node_modules/.cache', { recursive: true });
  checkout = await mkdtemp(resolve('node_modules/.cache/checkout-'));
  await chmod(checkout, 0o755);
  await mkdir(join(checkout, '.git'));
  await writeFile(join(checkout, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  service = await signedInService(join(checkout, 'data'), scratch);
});

afterAll(async () => {
  await service?.end('SIGTERM');
  for (const folder of [scratch, checkout])
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/** A folder with these files, in which `mps` runs. Its experiments are a project of its name. */
async function folderOf(name: string, files: Readonly<Record<string, string>>) {
  const folder = join(scratch, name);
  await mkdir(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const mps = (...args: string[]): Promise<Ended> => runMps(args, { folder, home: scratch });
  return {
    mps,
    async ran(...args: string[]): Promise<Ended> {
      const ended = await mps(...args);
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      return ended;
    },
    shown: async (id = 'latest') => JSON.parse((await mps('show', id, '--json')).stdout),
  };
}

describe('a program as it is', () => {
  test('has its flags as params, which -S and a rerun change', async () => {
    const { ran, mps, shown } = await folderOf('flags', {
      'train.py': 'import sys\nprint("arguments", *sys.argv[1:])\n',
      'train.yaml': 'seed: 7\n',
    });

    const first = await ran(
      'run',
      '-S',
      'lr=0.2',
      '-S',
      '--epochs=3',
      '--',
      'python3',
      'train.py',
      '--lr',
      '0.1',
    );
    const again = await ran('rerun', '-S', '--lr=0.4');
    const changed = await ran('rerun', 'latest', '--', 'python3', 'train.py', '--resume');

    expect(first.stdout).toBe('arguments --lr 0.2 --epochs=3\n');
    expect(first.stderr).toMatch(/^submitted .*: python3 train\.py --lr 0\.2 --epochs=3/m);
    expect(first.stderr).toMatch(
      /^console {5}http:\/\/\S+\/console#\/projects\/\w{26}\/experiments\/\w{26}$/m,
    );
    expect(again.stdout).toBe('arguments --lr 0.4 --epochs=3\n');
    expect(changed.stdout).toBe('arguments --resume\n');
    expect(await shown()).toMatchObject({
      command: 'python3 train.py --resume',
      params: { resume: 'true', seed: '7' },
    });
    expect((await mps('show')).stdout).toMatch(/^command +python3 train\.py --resume$/m);
    const compared = (await mps('compare')).stdout;
    expect(compared).toMatch(
      /^command\tpython3 train\.py --lr 0\.4 --epochs=3\tpython3 train\.py --resume$/m,
    );
    expect(compared).toMatch(/^params\.lr\t0\.4\t–$/m);
    const placed = await ran('run', '-S', 'lr=0.5', '--', 'python3', 'train.py', '{lr}', '{args}');
    expect(placed.stdout).toBe('arguments 0.5 --seed=7 --lr=0.5\n');
    const unknown = await mps('run', '--', 'python3', 'train.py', '{rate}');
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('train.yaml has no single value for {rate} of the command');
    const script = await mps('run', '-S', '--lr=1', '--', 'sh', '-c', 'python3 train.py');
    expect(script).toMatchObject({ code: 2, stderr: expect.stringContaining('the script of a shell') });
  });

  test.runIf(everySample)(
    'is told that .gitignore left out what it misses, and has it after the advised commands, also next time',
    async () => {
      await folderOf('ignored', {
        '.gitignore': '*.csv',
        'app/train.py':
          'import sys\nsys.path.append("../lib")\nimport reader\nprint(reader.read("data/x.csv"))\n',
        'app/mps.yaml': 'root: ..',
        // The folder above may be sent, because it is of the same repository.
        '.git/HEAD': '',
        'app/data/x.csv': 'seven',
        'app/data/y.csv': 'eight',
        'lib/reader.py': 'def read(path): return open(path).read()\n',
      });
      const { mps, ran, shown } = await folderOf('ignored/app', {});

      const failed = await mps('run');
      const advice = /to use it: mps (.*)$/m.exec(failed.stderr)?.[1]?.split(' ') ?? [];
      await ran(...advice);
      const dataset = /then mps (run .*)$/m.exec(failed.stderr)?.[1]?.split(' ') ?? [];
      const { stdout } = await ran(...dataset);
      const said = ['--name', 'second', '--tag', 'stage=first', '--tag', 'by=ada', '--note', 'why *so*'];
      const again = await ran('run', ...said);

      expect(failed.code).toBe(1);
      expect(stdout).toBe('seven\n');
      expect(again.stdout).toBe('seven\n');
      expect(again.stderr).toMatch(
        /^data set +data, as in the training before; --dataset "" trains without/m,
      );
      expect(again.stderr).not.toContain('Left out');
      expect(await shown()).toMatchObject({
        ...{ name: 'second', note: 'why *so*', tags: { stage: 'first', by: 'ada' }, dataset: 'data' },
      });
      expect(await mps('run', '--tag', 'stage')).toMatchObject({ code: 2 });
      expect(await mps('run', '--memory', '500000')).toMatchObject({
        ...{ code: 2, stderr: expect.stringContaining('memory must be 512 to 2048 in steps of 512') },
      });
    },
  );

  test.runIf(everySample)(
    'has the files that it leaves as artifacts, also when it fails, and its checkpoints',
    async () => {
      const { mps, ran, shown } = await folderOf('leaving', {
        'train.py': [
          'import os, sys',
          'os.makedirs("out", exist_ok=True)',
          'open("out/model.txt", "w").write("tree")',
          'open("notes.md", "a").write("more")',
          'open(os.path.join(os.environ["CHECKPOINT_DIR"], "last.pt"), "w").write("state")',
          'sys.exit(len(sys.argv) - 1)',
        ].join('\n'),
        'notes.md': 'some',
      });

      await ran('run');
      const left = (await ran('pull', '--to', 'left')).stderr;
      const pulled = await ran('pull', '--checkpoints', '--to', 'state');
      const failed = await mps('run', '--', 'python3', 'train.py', 'fail');

      expect(left).toMatch(/left\/workdir\/notes\.md .*\n.*left\/workdir\/out\/model\.txt/);
      expect(pulled.stderr).toMatch(/state\/last\.pt/);
      expect(failed.code).toBe(1);
      expect(await shown()).toMatchObject({ status: 'FAILED', artifacts: 2 });
    },
  );

  test.runIf(everySample)(
    'has the metrics of the files that its framework writes, and says which',
    async () => {
      const { ran, mps, shown } = await folderOf('lightning', {
        'train.py': [
          'import os',
          'os.makedirs("lightning_logs/version_0")',
          'with open("lightning_logs/version_0/metrics.csv", "w") as file:',
          '    print("epoch,step,train_loss,val_loss", "0,9,0.5,", "0,9,,0.4", "1,19,0.25,0.3", sep="\\n", file=file)',
          'print("epoch 1: loss 0.9")',
        ].join('\n'),
      });

      const { stderr } = await ran('run');

      expect(stderr).toContain('Metrics are read from "lightning_logs/version_0/metrics.csv"');
      expect(await shown()).toMatchObject({
        metrics: { train_loss: { last: 0.25, count: 2 }, val_loss: { last: 0.3, step: 19 } },
        metrics_source: 'csv',
        best: { metric: 'val_loss' },
      });
      expect((await mps('show')).stdout).toMatch(/^metrics +from a table of metrics$/m);
    },
  );

  test.runIf(everySample)(
    'that imports wandb records without it, and calls that are not known do nothing',
    async () => {
      const { ran, shown, mps } = await folderOf('wandb', {
        'train.py': [
          'import argparse, wandb',
          'from wandb.integration.unknown import Helper',
          'args = argparse.Namespace(lr=0.1, model={"depth": 3})',
          'run = wandb.init(project="demo", entity="me", config=args, name="first", tags=["a"], notes="a note")',
          'wandb.config.update({"batch": 8})',
          'wandb.define_metric("val/*", step_metric="epoch")',
          'for step in range(5):',
          '    wandb.log({"loss": 1 / (step + 1), "nested": {"acc": step}}, commit=False)',
          '    wandb.log({"text": "x"})',
          'wandb.log({"val/acc": 0.5, "epoch": 7})',
          'table = wandb.Table(columns=["x", "y"], data=[[1, 2]])',
          'wandb.log({"predictions": table, "weights": wandb.Histogram([1, 2, 3])})',
          'wandb.summary["best"] = 0.9',
          'wandb.watch(None); wandb.alert("done", text="all"); wandb.mystery(3).more["x"](1); Helper().go()',
          'assert wandb.config.lr == 0.1 and wandb.run.name == "first" and run.summary["loss"] == 0.2',
          'wandb.finish()',
          'with wandb.init(name="second", config={"lr": 0.2}) as other: other.log({"loss": float("nan")}, step=3)',
          'wandb.init(mode="disabled").log({"loss": 9})',
        ].join('\n'),
      });

      const { stderr } = await ran('run');

      const rows = (await mps('ls', '--json')).stdout
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row));
      const id = rows.find(({ name }) => name === 'first')?.experiment_id;
      expect(await shown(id)).toMatchObject({
        params: { lr: '0.1', 'model.depth': '3', batch: '8' },
        tags: { a: 'true', 'wandb.project': 'demo' },
        note: 'a note',
        metrics: {
          loss: { last: 0.2, step: 4, count: 5 },
          'nested.acc': { last: 4 },
          'val/acc': { last: 0.5, step: 7 },
          best: { last: 0.9 },
        },
        metrics_source: 'program',
        artifacts: 2,
      });
      expect(rows.find(({ name }) => name === 'second')).toMatchObject({
        status: 'SUCCEEDED',
        params: { lr: '0.2' },
      });
      expect(stderr).toContain('wandb: mystery is not known here and does nothing');
      expect(stderr).toContain('wandb: alert: done: all');
    },
  );

  test('has the metrics that the rules of mps.yaml find in its log', async () => {
    const { ran, shown } = await folderOf('ruled', {
      'mps.yaml': "metrics:\n  - 'it (?P<step>\\d+) cost=(?P<cost>\\S+)'\n  - 'gap (?P<gap>\\d+)'\n",
      'train.py': 'print("it 1 cost=5.5\\nit 2 cost=4.5\\nepoch 1: loss 0.5\\nthe gap: 3")',
    });

    await ran('run');

    const { metrics, warnings } = await shown();
    expect(metrics).toMatchObject({ cost: { last: 4.5, step: 2, count: 2 } });
    expect(Object.keys(metrics)).toEqual(['cost']);
    expect(warnings).toEqual([expect.stringContaining('The nearest line: "the gap: 3".')]);
  });

  test.runIf(thisHost.canSandbox())(
    'finds no files of the service above it that it would take for its own',
    async () => {
      const { ran } = await folderOf('above', {
        'train.py': [
          'import os',
          'folder = os.getcwd()',
          'while folder != "/":',
          '    for name in [".git", "package.json", "tsconfig.json"]:',
          '        if os.path.lexists(folder + "/" + name): print(name, "in", folder)',
          '    folder = os.path.dirname(folder)',
          'print("at the top")',
        ].join('\n'),
      });

      expect((await ran('run')).stdout).toBe('at the top\n');
    },
  );

  test.runIf(everySample)(
    'has room for Unix sockets and a name, however long the path of the data folder is',
    async () => {
      const { ran } = await folderOf('sockets', {
        'train.py': [
          'import getpass, multiprocessing, os, socket, tempfile',
          'if __name__ == "__main__":',
          '    with multiprocessing.Manager() as manager: print(manager.list([1, 2]))',
          // As long as the paths that Ray makes.
          '    folder = os.path.join(tempfile.gettempdir(), "ray/session_2026-11-29_06-40-00_000000_1234567/sockets")',
          '    os.makedirs(folder)',
          '    socket.socket(socket.AF_UNIX).bind(folder + "/plasma_store")',
          '    print(getpass.getuser())',
        ].join('\n'),
      });

      expect((await ran('run', '--', 'python3', 'train.py')).stdout).toBe('[1, 2]\njob\n');
    },
  );

  test.runIf(everySample)('has what it prints as metrics, unless it reports some itself', async () => {
    const printing = await folderOf('printing', {
      'train.py':
        'for step in range(3):\n    print(f"step {step}: train loss {1/(step+1):.4f}, val loss {1.1/(step+1):.4f}")\n',
    });
    const reporting = await folderOf('reporting', {
      'train.py':
        'import os\nprint("step 1: loss 0.5")\nwith open(os.environ["METRICS_FILE"], "a") as file:\n    print(\'{"rmse": 0.25}\', file=file)\n',
    });

    await Promise.all([printing.ran('run', '--', 'python3', 'train.py'), reporting.ran('run')]);

    expect(await printing.shown()).toMatchObject({
      metrics: { train_loss: { last: 0.3333, step: 2, count: 3 }, val_loss: { min: 0.3667, max: 1.1 } },
      metrics_source: 'log',
      best: { metric: 'val_loss', value: 0.3667 },
    });
    expect((await printing.mps('show')).stdout).toMatch(/^metrics +from the log$/m);
    const { metrics, metrics_source } = await reporting.shown();
    expect([Object.keys(metrics), metrics_source]).toEqual([['rmse'], 'program']);
  });
});

describe('a folder of somebody else', () => {
  test('gets the secrets of a project that its mps.yaml names only after its user has said so once', async () => {
    const program = { 'train.py': 'import os\nprint(os.environ.get("TOKEN"))\n' };
    const own = await folderOf('own', program);
    const stranger = await folderOf('stranger', { ...program, 'mps.yaml': 'project: own' });
    const input = 'secret of own\n';
    const set = startMps(['env', 'set', 'TOKEN'], { folder: join(scratch, 'own'), home: scratch, input });
    expect(await set.ended).toMatchObject({ code: 0 });
    await own.ran('run');
    const before = (await own.mps('ls')).stdout;

    const refused = await stranger.mps('run');
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'would get the secrets of the project: TOKEN. If you trust this folder, say --project own once.',
      ),
    });
    expect((await own.mps('ls')).stdout).toBe(before);

    await stranger.ran('run', '--project', 'own');
    await stranger.ran('run');
  });
});
