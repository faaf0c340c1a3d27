import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keepModules } from '../../../../shared/runner/trackers/keep-modules.ts';
import { trackedPrograms } from './tracked-programs.ts';

describe('a program of another tracker', () => {
  let programs: Awaited<ReturnType<typeof trackedPrograms>>;
  beforeEach(async () => {
    programs = await trackedPrograms();
  });
  afterEach(() => programs.close());

  test('of ClearML records scalars, parameters, tags and artifacts', async () => {
    const { said, files } = await programs.ran([
      'from clearml import Task, Logger',
      'task = Task.init(project_name="demo", task_name="one", tags=["a"])',
      'settings = task.connect({"lr": 0.1, "model": {"depth": 3}})',
      'for step in range(2): task.get_logger().report_scalar("loss", "train", 1 / (step + settings["lr"]), step)',
      'Logger.current_logger().report_single_value("best", 0.9)',
      'Logger.current_logger().report_table("t", "s", 0, table_plot=[["x"], [1]])',
      'task.upload_artifact("notes", {"a": 1}); task.get_mystery(3)',
      'Logger.tensorboard_auto_group_scalars(True); Logger.tensorboard_auto_group_scalars(True); Task.get_task("x")',
    ]);

    expect(programs.runs).toEqual([
      {
        name: 'one',
        metrics: ['loss/train@0=10', 'loss/train@1=0.9090909090909091', 'best@0=0.9'],
        params: { lr: '0.1', 'model/depth': '3' },
        tags: { a: 'true', 'clearml.project': 'demo' },
      },
    ]);
    expect(said.trimEnd().split('\n')).toEqual(
      ['Task.get_mystery', 'Logger.tensorboard_auto_group_scalars', 'Task.get_task'].map(
        (name) => `clearml: ${name} is not known here and does nothing`,
      ),
    );
    expect(files).toEqual(['clearml/media/tables/t_s_0.csv', 'clearml/media/texts/artifact_notes_0.txt']);
  });

  test('of Comet records metrics of its parts, parameters and assets', async () => {
    const { said, files } = await programs.ran([
      'from comet_ml import Experiment',
      'import comet_ml, os',
      'experiment = Experiment(api_key="secret", project_name="demo")',
      'experiment.set_name("one"); experiment.add_tags(["a"]); experiment.log_parameters({"lr": 0.1})',
      'with experiment.train():',
      '    for step in range(2): experiment.log_metric("loss", 1 - step / 2, step=step)',
      'experiment.log_metrics({"acc": 0.5}, prefix="val", epoch=3)',
      'open("w.bin", "w").write("x"); experiment.log_model("net", "w.bin"); experiment.log_asset("missing.txt")',
      'experiment.log_confusion_matrix([0, 1], [0, 0]); experiment.log_code("."); experiment.end()',
      'assert comet_ml.get_global_experiment() is None',
    ]);

    expect(programs.runs).toEqual([
      {
        metrics: ['train_loss@0=1', 'train_loss@1=0.5', 'val_acc@3=0.5'],
        params: { lr: '0.1' },
        tags: { 'comet.project': 'demo', 'mlflow.runName': 'one', a: 'true' },
      },
    ]);
    expect(said.trimEnd().split('\n')).toEqual([
      'comet_ml: api_key is not used here: runs are recorded in this experiment',
      'comet_ml: missing.txt is not kept: there is no such file',
      'comet_ml: Experiment.log_code does nothing here: the experiment has its source',
    ]);
    expect(files).toEqual(['comet_ml/media/tables/Confusion_Matrix_1.csv', 'comet_ml/models/net/w.bin']);
  });

  test('of Neptune records series, parameters, single values and files', async () => {
    const { files } = await programs.ran([
      'import neptune',
      'from neptune.types import File',
      'from neptune.utils import stringify_unsupported',
      'run = neptune.init_run(project="me/demo", name="one", tags=["a"])',
      'run["parameters"] = stringify_unsupported({"lr": 0.1, "net": {"depth": 3}})',
      'for value in (1.0, 0.5): run["train/loss"].append(value)',
      'run["test/acc"] = 0.9; run["data/version"] = "v1"; run["sys/tags"].add(["b"])',
      'run["page"].upload(File.from_content("hello")); run.stop()',
    ]);

    expect(programs.runs).toEqual([
      {
        name: 'one',
        metrics: ['train/loss@0=1', 'train/loss@1=0.5', 'test/acc@0=0.9'],
        params: { 'parameters/lr': '0.1', 'parameters/net/depth': '3' },
        tags: { a: 'true', 'neptune.project': 'me/demo', 'data/version': 'v1', b: 'true' },
      },
    ]);
    expect(files).toEqual(['neptune/media/texts/page_0.txt']);
  });

  test('of Aim, Trackio, SwanLab and neptune_scale records what it logs', async () => {
    await programs.ran([
      'from aim import Run, Text',
      'run = Run(experiment="e"); run["hparams"] = {"lr": 0.1}; run.name = "one"',
      'for value in (1.0, 0.5): run.track(value, name="loss", context={"subset": "train"})',
      'run.close()',
      'import trackio as wandb',
      'wandb.init(project="p", name="two", config={"lr": 0.2})',
      'for value in (1.0, 0.5): wandb.log({"loss": value})',
      'wandb.finish()',
      'import swanlab',
      'swanlab.init(project="p", experiment_name="three", config={"lr": 0.3})',
      'swanlab.log({"train": {"loss": 0.5}, "note": swanlab.Text("x")}, step=4); assert swanlab.config.lr == 0.3',
      'swanlab.finish()',
      'from neptune_scale import Run',
      'with Run(experiment_name="four") as run: run.log_configs({"lr": 0.4}); run.log_metrics({"loss": 0.1}, step=2)',
    ]);

    expect(programs.runs.map(({ metrics, params }) => [...metrics, params])).toEqual([
      ['train/loss@0=1', 'train/loss@1=0.5', { lr: '0.1' }],
      ['loss@0=1', 'loss@1=0.5', { lr: '0.2' }],
      ['train/loss@4=0.5', { lr: '0.3' }],
      ['loss@2=0.1', { lr: '0.4' }],
    ]);
    expect(programs.runs.map(({ name, tags, status }) => [tags['mlflow.runName'] ?? name, status])).toEqual([
      ['one', undefined],
      ['two', 'FINISHED'],
      ['three', 'FINISHED'],
      ['four', 'FINISHED'],
    ]);
  });

  test('of wandb has the name, note, tags and summary that it assigns', async () => {
    const { printed, said, files } = await programs.ran([
      'import wandb',
      'run = wandb.init(project="p", name="first", tags=["given", "gone"])',
      'run.define_metric("loss", summary="min")',
      'for loss in (2.0, 1.0, 3.0): run.log({"loss": loss, "phase": "warm up" if loss > 1 else "main"})',
      'print(run.summary["loss"], run.summary["loss"]["min"], run.summary["phase"])',
      'run.name = "second"; run.notes = "a note"; run.tags = ("given", "added")',
      'run.summary["best"] = {"acc": 0.9}; run.summary["list"] = [1, 2]',
      'run.summary["table"] = wandb.Table(columns=["x"], data=[[1]])',
      'run.watch(object()); run.watch(object()); run.log_code("."); wandb.log_code()',
      'run.finish()',
    ]);

    expect(printed).toBe('1.0 1.0 warm up\n');
    expect(programs.runs[0]).toEqual({
      name: 'first',
      metrics: ['loss@0=2', 'loss@1=1', 'loss@2=3', 'best.acc@3=0.9'],
      params: {},
      tags: {
        given: 'true',
        'wandb.project': 'p',
        phase: 'warm up',
        'mlflow.runName': 'second',
        'mlflow.note.content': 'a note',
        added: 'true',
        list: '[1, 2]',
      },
    });
    expect(said.trimEnd().split('\n')).toEqual([
      'wandb: watch keeps no gradients here',
      'wandb: log_code does nothing here: the experiment has its source',
    ]);
    expect(files).toEqual(['wandb/media/tables/table_3.csv']);
  });

  test('of wandb catches its errors, reads tables, and logs files that it removed', async () => {
    const { printed, files } = await programs.ran([
      'import os, tempfile, wandb',
      'from wandb.errors import CommError',
      'run = wandb.init()',
      'open("w", "w").write("weights"); made = wandb.Artifact("model", type="model"); made.add_file("w", "w.bin"); os.remove("w")',
      'run.log_artifact(made).wait(); print(open(run.use_artifact("model:latest").file()).read())',
      'try: raise ValueError("x")',
      'except (wandb.errors.UsageError, wandb.errors.TermError, wandb.sdk.lib.ConfigError, ValueError): print("caught")',
      'try: run.use_artifact("me/other:v3")',
      'except CommError: print("told")',
      'print(list(wandb.Table(columns=["a"], data=[[1]]).iterrows()), isinstance(run, wandb.sdk.wandb_run.Run), isinstance(run, wandb.mystery))',
    ]);

    expect(printed.trimEnd().split('\n')).toEqual(['weights', 'caught', 'told', '[(0, [1])] True False']);
    expect(files).toEqual(['wandb/artifacts/model/w.bin']);
  });

  test('of wandb that searches by an agent has a nested run for each trial', async () => {
    const { said } = await programs.ran([
      'import wandb',
      'def train():',
      '    with wandb.init(config={"lr": 5, "layers": 2}):',
      '        wandb.log({"loss": wandb.config.lr / 10})',
      'search = {"method": "grid", "parameters": {"lr": {"values": [1, 2, 3]}, "batch": {"value": 8}}}',
      'wandb.agent(wandb.sweep(search, project="p"), function=train, count=2)',
      'drawn = {"method": "random", "parameters": {"lr": {"min": 0.001, "max": 0.1}}}',
      'wandb.agent(wandb.sweep(drawn), function=lambda: train() or 1 / 0, count=1)',
    ]);

    expect(
      programs.runs.map(({ parent, metrics, params }) => [parent, ...metrics, params['lr'], params['batch']]),
    ).toEqual([
      ['r0', 'loss@0=0.1', '1', '8'],
      ['r0', 'loss@0=0.2', '2', '8'],
      ['r0', expect.stringMatching(/^loss@0=0\.00\d/), expect.stringMatching(/^0\.0/), undefined],
    ]);
    expect(said).toContain('ZeroDivisionError');
  });

  test('keeps the rows of runs that it drops, and the files of each run apart', async () => {
    const { files } = await programs.ran([
      'import wandb',
      'open("w.bin", "w").write("x")',
      'def train(rate):',
      '    run = wandb.Run(name="run"); run.save("w.bin"); run.log({"loss": rate})',
      'for rate in (1, 2): train(rate)',
    ]);

    expect(programs.runs.map(({ metrics }) => metrics)).toEqual([['loss@0=1'], ['loss@0=2']]);
    expect(files).toEqual(['wandb/runs/r1/w.bin', 'wandb/w.bin']);
  });

  test('sends its rows again after faults that pass, and once where they do not', async () => {
    programs.faults.push(503, 429, 200, 500, 500, 500, 500, 500, 400, 200, 400);
    const { said } = await programs.ran([
      'import trackio, mps_recorder.recorder as recorder; recorder._WAITS = (0, 0, 0)',
      'run = trackio.init(); flush = run._recorder.flush',
      'for name in ("kept", "lost", "again"): trackio.log({name: 1}); flush()',
      'trackio.log({"good": 1, "bad": 1}); flush()',
      'trackio.log({"late": 1})',
    ]);

    expect(programs.runs[0]?.metrics).toEqual(['kept@0=1', 'good@3=1', 'late@4=1']);
    expect(said.trimEnd().split('\n')).toEqual(
      ['lost', 'again', 'bad'].map((name) => `trackio: not recorded: metric ${name}: a fault`),
    );
  });

  test('of several processes records what each logs, and ends a run once', async () => {
    await programs.ran([
      'import multiprocessing, os, wandb',
      'def work(rate):',
      '    wandb.log({"loss": rate}); wandb.init(reinit=True).log({"own": rate}, commit=False)',
      'run, further = wandb.init(), wandb.Run()',
      'process = multiprocessing.get_context("fork").Process(target=work, args=(1,)); process.start(); process.join()',
      'child = os.fork()',
      'if child == 0: raise SystemExit',
      'os.waitpid(child, 0); assert not run._ended; further.log({"after": 2}); print("went on")',
    ]);

    expect(programs.runs.map(({ metrics }) => metrics)).toEqual([['loss@0=1'], ['after@0=2'], ['own@0=1']]);
  });

  test('of wandb logs figures and lists as they are at that time', async () => {
    const { files, printed } = await programs.ran([
      'import copy, os, pickle, types, wandb',
      'from wandb.util import generate_id; print(len(generate_id()), generate_id() != generate_id())',
      'class Figure:',
      '    lines = b"one"',
      '    def savefig(self, file, **_): file.write(self.lines)',
      'run = wandb.init(config={"lr": 1, "net": {"depth": 2}}); figure = Figure()',
      'run.log({"early": figure, "made": wandb.Image(figure)}, commit=False)',
      'later = wandb.Image(figure); figure.lines = b"two"; run.log({"late": later})',
      'for name in ("early", "made", "late"): print(open(os.path.join(run.dir, "media/images", name + "_0.png")).read())',
      'copied = copy.deepcopy(wandb.config); copied.lr = 5; copied.net["depth"] = 6',
      'print(dict(pickle.loads(pickle.dumps(copied))), run.config, copy.deepcopy(run)._recorder is run._recorder)',
      'import trackio; trackio.init(project="p", config={"lr": 3}); copy.deepcopy(trackio.config)["lr"] = 4; print(trackio.config)',
    ]);

    expect(files.length).toBe(3);
    expect(printed.trimEnd().split('\n')).toEqual([
      ...['8 True', 'one', 'one', 'one'],
      "{'lr': 5, 'net': {'depth': 6}} {'lr': 1, 'net': {'depth': 2}} True",
      "{'lr': 3}",
    ]);
    expect(programs.runs.map(({ params }) => params['lr'])).toEqual(['1', '3']);
  });

  test('of wandb takes the axis of a row from an earlier one, and ends though a file is not kept', async () => {
    const { said } = await programs.ran([
      'import wandb; run = wandb.init(); further = wandb.Run(); further.define_metric("val", step_metric="epoch")',
      'further.log({"epoch": 7}); further.log({"val": 1})',
      'open("w", "w").write("x"); open("v", "w").write("x")',
      'for _ in range(3): further.save("[vw]")',
      'assert len(further._saved) == 1; further._recorder.file = lambda path, inside: 1 / 0; further.finish()',
    ]);

    expect(programs.runs[1]).toMatchObject({ metrics: ['epoch@0=7', 'val@7=1'], status: 'FINISHED' });
    expect(said).toBe('wandb: a call of save_file is left out: ZeroDivisionError\n');
  });

  test('keeps its modules where the command sets PYTHONPATH', async () => {
    const { printed } = await programs.ran(
      [
        'import wandb',
        'run = wandb.init(); print(wandb.__version__, __import__("os").environ["PYTHONPATH"].split(":")[0])',
      ],
      {},
      async (modules) => {
        const path = await keepModules('/usr/bin:/bin', modules, programs);
        return ['sh', '-c', `export PATH='${path}'; PYTHONPATH=src python3 train.py`];
      },
    );

    expect(printed).toBe('0.19.0 src\n');
  });

  test('keeps a module of its own that is called like a tracker', async () => {
    await writeFile(join(programs.source, 'aim.py'), 'def shoot(): return 3');
    const { printed } = await programs.ran(['from aim import shoot', 'print(shoot())']);

    expect(printed).toBe('3\n');
    expect(programs.runs).toEqual([]);
  });
});
