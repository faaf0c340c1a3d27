import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TrainingRun } from '../../../../shared/runner/job/training-job.ts';
import { figureVariables, provideTrackers } from '../../../../shared/runner/trackers/provide-trackers.ts';
import { trackedPrograms } from './tracked-programs.ts';

describe('a module in the place of wandb', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'wandb-'));
    await mkdir(join(root, 'source'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** Provide the module to a project with a source and variables. */
  async function provided(source: string, values: Record<string, string> = {}, command = 'python3 train.py') {
    await writeFile(join(root, 'source', 'train.py'), source);
    const run = {
      job: { record: { environment: { entry_point_command: command } } },
      workspace: { root, source: join(root, 'source') },
      variables: { values },
    };
    return provideTrackers(run as unknown as TrainingRun);
  }

  test('is provided to a program that names wandb, and to no other', async () => {
    expect(await provided('import mlflow')).toBeUndefined();
    expect(await provided('from lightning.pytorch.loggers import WandbLogger')).toBe(join(root, 'modules'));
  });

  test.each([
    {
      own: false,
      files: ['utils/__init__.py', 'utils/loggers/__init__.py', 'utils/loggers/wandb/__init__.py'],
    },
    { own: false, files: ['src/pkg/loggers/__init__.py', 'src/pkg/loggers/wandb.py'] },
    { own: true, files: ['__init__.py', 'wandb.py'] },
    { own: true, files: ['src/wandb/__init__.py'] },
    { own: true, files: ['app/__init__.py', 'app/wandb.py'], command: 'python3 app/train.py' },
  ])('takes $files for a module of that name: $own', async ({ own, files, command }) => {
    for (const path of files) {
      await mkdir(dirname(join(root, 'source', path)), { recursive: true });
      await writeFile(join(root, 'source', path), '');
    }

    expect(await provided('import wandb', {}, command)).toBe(own ? undefined : join(root, 'modules'));
  });

  test('reads a source with many blank lines', async () => {
    expect(await provided(`${'\n'.repeat(300_000)}  import os, aim`)).toBe(join(root, 'modules'));
  });

  test('keeps figures that a program shows, each state once', async () => {
    const folder = await provided('import matplotlib.pyplot as plt\nplt.show()');
    const fakes = {
      '_pylab_helpers.py': [
        'class Manager:',
        '    def __init__(self, num):',
        '        self.num, self.canvas, self.state = num, self, b"a"',
        '        self.figure, self.stale, self.draws = self, True, 0',
        '    def change(self, state): self.state, self.stale = state, True',
        '    def savefig(self, file, **_): self.draws += 1; file.write(self.state)',
        'figures = [Manager(1), Manager(2)]',
        'class Gcf:',
        '    get_all_fig_managers = staticmethod(lambda: figures)',
      ],
      'backend_bases.py': ['class FigureManagerBase: pass'],
      'backends/backend_agg.py': ['class FigureCanvasAgg:', '    def draw(self): self.figure.stale = False'],
      '__init__.py': [],
      'backends/__init__.py': [],
    };
    for (const [path, lines] of Object.entries(fakes)) {
      await mkdir(dirname(join(root, 'matplotlib', path)), { recursive: true });
      await writeFile(join(root, 'matplotlib', path), lines.join('\n'));
    }
    const script = [
      'import mps_figures; from matplotlib._pylab_helpers import figures',
      'mps_figures.show(); mps_figures.show(block=False)',
      'assert [one.draws for one in figures] == [1, 1]',
      'figures[0].change(b"b"); mps_figures.show(); assert [one.draws for one in figures] == [2, 1]',
      'canvas = mps_figures.FigureCanvas(); canvas.figure = figures[1]',
      'figures[1].change(b"c"); canvas.draw(); mps_figures.show(); mps_figures.show()',
      'assert [one.draws for one in figures] == [2, 2]',
    ];
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: `${folder}:${root}`, OUTPUT_DIR: join(root, 'output') };

    execFileSync('python3', ['-c', script.join('\n')], { env, cwd: root, stdio: 'pipe' });

    const read = (number: number) => readFile(join(root, 'output/figures', `figure_${number}.png`), 'utf8');
    expect(await Promise.all([1, 2, 3, 4].map(read))).toEqual(['a', 'a', 'b', 'c']);
    await expect(read(5)).rejects.toThrow();
    const backend = { MPLBACKEND: 'module://mps_figures' };
    expect(await figureVariables(folder, 'python3 train.py')).toEqual(backend);
    expect(await figureVariables(folder, 'papermill in.ipynb out.ipynb')).toEqual({});
  });

  test('is provided where the command names wandb', async () => {
    expect(await provided('', {}, 'python3 run_glue.py --report_to wandb')).toBe(join(root, 'modules'));
  });

  test('is not provided to a project with a key or a server of wandb', async () => {
    for (const values of [
      { WANDB_API_KEY: 'k' },
      { WANDB_BASE_URL: 'https://w' },
      { NETRC: 'machine api.wandb.ai login user' },
    ])
      expect(await provided('import wandb', values)).toBeUndefined();
  });

  test('records nothing and harms nothing outside of an experiment', async () => {
    const folder = await provided('import wandb');
    const script =
      'import wandb; r = wandb.init(config={"a": 1}); wandb.log({"x": 1}); print(r.config.a, r.summary["x"])';
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: folder, TMPDIR: root };

    expect(execFileSync('python3', ['-c', script], { env, cwd: root, stdio: 'pipe' }).toString()).toBe(
      '1 1.0\n',
    );
  });

  test('leaves out what it cannot record, and the program goes on', async () => {
    const folder = await provided('import wandb');
    const script = [
      'import wandb',
      'class Bad:',
      '    def __str__(self): raise RuntimeError()',
      '    def __getattr__(self, name): raise RuntimeError()',
      'cycle = {}',
      'cycle["a"] = cycle',
      'r = wandb.init(config={"bad": Bad(), "lr": 1})',
      'wandb.config.update(cycle)',
      'wandb.config.update(Bad())',
      'for row in (cycle, {"x": Bad()}, {"x": 10**400}, {Bad(): 1}, "text", [1, 2]): wandb.log(row)',
      'for step in ("one", float("inf")): wandb.log({"x": 1}, step=step)',
      'wandb.summary["x"] = 10**400',
      'wandb.alert(title=Bad())',
      'wandb.log({"y": 2})',
      'print(r.config.lr, r.summary["y"])',
    ];
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: folder, TMPDIR: root };

    const { stdout, stderr } = spawnSync('python3', ['-c', script.join('\n')], { env, cwd: root });

    expect(stdout.toString()).toBe('1 2.0\n');
    expect(stderr.toString()).toContain('wandb: a call of log is left out: OverflowError\n');
  });

  test('ends a step with a call of log that names no data', async () => {
    const folder = await provided('import wandb');
    const script =
      'import wandb; r = wandb.init()\nfor i in range(3): wandb.log({"x": i}, commit=False); wandb.log()\nprint(r.step, r.summary["x"])';
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: folder, TMPDIR: root };

    expect(execFileSync('python3', ['-c', script], { env, cwd: root, stdio: 'pipe' }).toString()).toBe(
      '3 2.0\n',
    );
  });

  test('does not take what an unknown call returned for a picture or a table', async () => {
    const folder = await provided('import wandb');
    const script =
      'import wandb; roc = wandb.plots.NER([1]); print(any(hasattr(roc, name) for name in ("_write", "savefig", "_data")))';
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: folder, TMPDIR: root };

    expect(execFileSync('python3', ['-c', script], { env, cwd: root, stdio: 'pipe' }).toString()).toBe(
      'False\n',
    );
  });

  describe('of a program within an experiment', () => {
    let programs: Awaited<ReturnType<typeof trackedPrograms>>;
    beforeEach(async () => {
      programs = await trackedPrograms();
    });
    afterEach(() => programs.close());

    const nameOf = (path: string): string => basename(path);
    const table = (name: string): Promise<string> =>
      readFile(join(programs.output, 'wandb/media/charts', name), 'utf8');

    test('keeps the rows of its charts as tables', async () => {
      const { files } = await programs.ran([
        'import wandb, wandb.plot; wandb.init()',
        'table = wandb.Table(columns=["x", "y"], data=[[1, 2], [3, 4]])',
        'wandb.log({"curve": wandb.plot.line(table, "x", "y", title="A curve")})',
        'wandb.log({"lines": wandb.plot.line_series([0, 1], [[5, 6], [7, 8]], keys=["a", "b"])})',
        'wandb.log({"grid": wandb.plot.confusion_matrix(y_true=[0, 1, 1], preds=[0, 1, 0], class_names=["no", "yes"])})',
      ]);

      expect(files.map(nameOf).toSorted()).toEqual(['curve_0.csv', 'grid_2.csv', 'lines_1.csv']);
      const tables = await Promise.all(files.map((path) => table(nameOf(path))));
      expect(tables.map((table) => table.trimEnd().split('\r\n'))).toEqual([
        ['x,y', '1,2', '3,4'],
        ['Actual,Predicted,nPredictions', 'no,no,1', 'no,yes,0', 'yes,no,1', 'yes,yes,1'],
        ['x,lineKey,lineVal', '0,a,5', '1,a,6', '0,b,7', '1,b,8'],
      ]);
    });

    test('draws the curves of a model whose test set lacks a class', async () => {
      const sklearn = [
        'class metrics:',
        '    roc_curve = staticmethod(lambda true, scores: ([0, 1], [0, scores[true.index(True)]], None))',
        '    precision_recall_curve = roc_curve',
      ];
      const scores = '[[0.1, 0.2, 0.7], [0.8, 0.2, 0]]';
      const { said } = await programs.ran(
        [
          'import types, wandb; wandb.init()',
          'model = types.SimpleNamespace(classes_=[3, 5, 8])',
          `wandb.sklearn.plot_classifier(model, [], [], [3, 5, 8], [8, 3], [8, 3], ${scores}, list("abcdefghij"))`,
          `wandb.log({"alone": wandb.plot.roc_curve([8, 3], ${scores}), "zero": wandb.plot.pr_curve([2, 0], ${scores})})`,
        ],
        { 'sklearn.py': sklearn.join('\n') },
      );

      expect(said).toContain(
        'wandb: roc_curve is not drawn: the scores have 3 columns for 2 classes, and nothing says which is whose',
      );
      expect(said).not.toMatch(/plot_(?:roc|precision_recall) is not drawn/);
      expect((await table('roc_2.csv')).trimEnd().split('\r\n')).toEqual([
        ...['class,fpr,tpr', 'd,0.0,0.0', 'd,1.0,0.8', 'i,0.0,0.0', 'i,1.0,0.7'],
      ]);
      expect(await table('zero_4.csv')).toContain('2,0.7,1.0');
    });

    test('goes on where a chart cannot be drawn, and names it', async () => {
      const { printed, said } = await programs.ran([
        'import wandb; wandb.init()',
        'chart = wandb.plot.line(wandb.Table(columns=["x"], data=[[1]]), "x", "loss")',
        'wandb.log({"chart": chart, "grid": wandb.plot.confusion_matrix(y_true=[1], preds=[1, 2])})',
        'wandb.sklearn.plot_summary_metrics(None, [], [], [], []); wandb.sklearn.plot_others(3)',
        'print("went on")',
      ]);

      expect(printed).toBe('went on\n');
      expect(said).toContain('wandb: line is not drawn: the table has no column loss');
      expect(said).toContain('wandb: confusion_matrix is not drawn: 2 predictions belong to 1 true classes');
      expect(said).toContain('wandb: sklearn.plot_summary_metrics is not drawn: ');
      expect(said).toContain('wandb: sklearn.plot_others is not known here');
    });

    test('keeps a figure of Plotly as HTML and a data frame as a table', async () => {
      const { files } = await programs.ran([
        'import types, wandb; wandb.init()',
        'figure = types.SimpleNamespace(to_plotly_json=dict, to_html=lambda: "<p>figure</p>")',
        'rows = types.SimpleNamespace(tolist=lambda: [[1]])',
        'frame = types.SimpleNamespace(to_csv=None, columns=["x"], values=rows)',
        'wandb.log({"figure": figure, "frame": frame})',
      ]);

      expect(files.map(nameOf).toSorted()).toEqual(['figure_0.html', 'frame_0.csv']);
    });

    test('records what XGBoost, LightGBM and CatBoost tell their callbacks', async () => {
      const xgboost =
        'import types\nclass TrainingCallback: pass\ncallback = types.SimpleNamespace(TrainingCallback=TrainingCallback)';

      const { printed } = await programs.ran(
        [
          'import types, wandb, wandb.lightgbm; from wandb.integration.xgboost import WandbCallback',
          'run = wandb.init()',
          'model = types.SimpleNamespace(save_config=lambda: \'{"eta": 0.1}\', attr=lambda name: None, get_score=lambda **_: {"f0": 2.0})',
          'for callback in (WandbCallback(), wandb.xgboost.WandbCallback(log_feature_importance=False)):',
          '    callback.before_training(model)',
          '    assert callback.after_iteration(model, 0, {"test": {"rmse": [0.5, 0.4]}}) is False',
          '    callback.after_training(model)',
          'call = wandb.lightgbm.wandb_callback()',
          'call(types.SimpleNamespace(iteration=0, begin_iteration=0, params={"leaves": 7}, evaluation_result_list=[("valid", "l2", 0.3, False)]))',
          'call(types.SimpleNamespace(iteration=1, begin_iteration=0, params={}, evaluation_result_list=[("cv_agg", "valid l2", 0.2, False, 0.1)]))',
          'info = types.SimpleNamespace(iteration=0, metrics={"learn": {"RMSE": [0.6]}})',
          'from wandb.catboost import WandbCallback as Callback; assert Callback().after_iteration(info) is True',
          'names = ["test-rmse", "valid_l2", "valid_l2-mean", "valid_l2-stdv", "learn-RMSE"]',
          'print([run.summary[name] for name in names], run.config.eta, run.config.leaves)',
        ],
        { 'xgboost.py': xgboost },
      );

      expect(printed).toBe('[0.4, 0.3, 0.2, 0.1, 0.6] 0.1 7\n');
    });

    test('records epochs and batches of Keras under the names of wandb', async () => {
      const keras =
        'import types\nclass Callback: pass\nclass ModelCheckpoint: pass\ncallbacks = types.SimpleNamespace(Callback=Callback, ModelCheckpoint=ModelCheckpoint)';

      const { printed } = await programs.ran(
        [
          'import wandb; from wandb.integration.keras import WandbMetricsLogger, WandbModelCheckpoint',
          'run = wandb.init()',
          'WandbMetricsLogger().on_epoch_end(3, {"loss": 0.5})',
          'WandbMetricsLogger(log_freq="batch").on_train_batch_end(0, {"loss": 0.7})',
          'wandb.keras.WandbCallback().on_epoch_end(3, {"val_loss": 0.6})',
          'print([run.summary[name] for name in ["epoch/loss", "epoch/epoch", "batch/loss", "val_loss"]], WandbModelCheckpoint.__name__)',
        ],
        { 'keras.py': keras },
      );

      expect(printed).toBe('[0.5, 3.0, 0.7, 0.6] ModelCheckpoint\n');
    });
  });
});
