import { describe, expect, test } from 'vitest';
import { CsvMetrics } from '../../../../shared/runner/metric-files/csv-metrics.ts';
import { JsonLines } from '../../../../shared/runner/metric-files/json-lines.ts';
import { summaryMetrics, trainerHistory } from '../../../../shared/runner/metric-files/json-metrics.ts';
import { metricFileKind } from '../../../../shared/runner/metric-files/metric-file-kind.ts';

const tableOf = (text: string, path = 'metrics.csv') => {
  const table = new CsvMetrics(path);
  return text
    .split('\n')
    .flatMap((line) => table.read(line).map(({ name, value, step }) => [name, value, step]));
};

describe('a table of metrics', () => {
  test("is Lightning's, whose rows have some cells", () => {
    expect(tableOf('epoch,step,train_loss,val_loss\n0,9,0.5,\n0,19,,0.4\n1,29,nan,inf')).toEqual([
      ['train_loss', 0.5, 9],
      ['val_loss', 0.4, 19],
      ['train_loss', Number.NaN, 29],
      ['val_loss', Number.POSITIVE_INFINITY, 29],
    ]);
  });

  test("is that of Keras's CSVLogger, fastai's and Ultralytics'", () => {
    expect(tableOf('epoch;accuracy;loss\n0;0.5;0.7')).toEqual([
      ['accuracy', 0.5, 0],
      ['loss', 0.7, 0],
    ]);
    expect(tableOf('epoch,train_loss,valid_loss,time\n0,0.5,0.6,00:12')).toEqual([
      ['train_loss', 0.5, 0],
      ['valid_loss', 0.6, 0],
    ]);
    expect(tableOf('                  epoch,      time,         train/box_loss\n  1,  3.2,  1.5')).toEqual([
      ['train/box_loss', 1.5, 1],
    ]);
  });

  test('of DVCLive has the name of its file', () => {
    expect(tableOf('step\tloss\n0\t0.5', 'dvclive/plots/metrics/train/loss.tsv')).toEqual([
      ['train/loss', 0.5, 0],
    ]);
  });

  test('is none without steps or a metric, as tables of data and predictions', () => {
    expect(tableOf('id,score\n1,0.5')).toEqual([]);
    expect(tableOf('step,x,y\n1,2,3')).toEqual([]);
    expect(tableOf('0.1,0.2\n0.3,0.4')).toEqual([]);
    expect(tableOf('epoch,loss\n0,0.5\n1,0.')).toHaveLength(2);
    expect(tableOf('epoch,loss\n0\n1,0.5,9\nx,0.1')).toEqual([]);
  });
});

describe('a JSON file of metrics', () => {
  test("has the numbers of DVC's and spaCy's, nested ones with dots", () => {
    expect(
      summaryMetrics('{"avg_prec": 0.9, "roc": {"auc": 0.8}, "name": "x"}', 'eval/metrics.json'),
    ).toEqual([
      { name: 'avg_prec', value: 0.9, step: null },
      { name: 'roc.auc', value: 0.8, step: null },
    ]);
    const meta = '{"version": 3, "performance": {"ents_f": 0.5, "ents_per_type": null}}';
    expect(summaryMetrics(meta, 'model-best/meta.json')).toEqual([
      { name: 'ents_f', value: 0.5, step: null },
    ]);
    expect(summaryMetrics('{"version": 3}', 'meta.json')).toEqual([]);
  });

  test("has the history of Hugging Face's Trainer", () => {
    const history = [
      { loss: 0.5, grad_norm: 1.5, epoch: 0.5, step: 10 },
      { eval_loss: 0.4, epoch: 1, step: 20 },
    ];
    expect(trainerHistory(JSON.stringify({ log_history: history }))).toEqual([
      { name: 'loss', value: 0.5, step: 10 },
      { name: 'grad_norm', value: 1.5, step: 10 },
      { name: 'eval_loss', value: 0.4, step: 20 },
    ]);
  });

  test("has NaN and Infinity as Python's json writes them, but not those in strings", () => {
    const entry = '{"loss": NaN, "grad_norm": -Infinity, "note": "a \\"b\\": NaN, Infinity", "step": 10}';

    const history = trainerHistory(`{"best_metric": NaN, "log_history": [${entry}]}`);

    expect(history).toEqual([
      { name: 'loss', value: Number.NaN, step: 10 },
      { name: 'grad_norm', value: Number.NEGATIVE_INFINITY, step: 10 },
    ]);
  });

  test('has what a diverged training measures, as a file of one object and as lines', () => {
    const summary = summaryMetrics('{"loss": NaN, "perplexity": Infinity, "note": "NaN"}', 'metrics.json');
    const lines = new JsonLines();

    const rows = ['{"step": 1, "loss": 0.5}', '{"step": 2, "loss": NaN}', '{"step": NaN, "loss": 1}'].flatMap(
      (line) => lines.read(line),
    );

    expect(summary).toEqual([
      { name: 'loss', value: Number.NaN, step: null },
      { name: 'perplexity', value: Number.POSITIVE_INFINITY, step: null },
    ]);
    expect(rows).toEqual([
      { name: 'loss', value: 0.5, step: 1 },
      { name: 'loss', value: Number.NaN, step: 2 },
    ]);
  });

  test('that is torn, deep or of other data has none', () => {
    expect(summaryMetrics('{"a": 1', 'metrics.json')).toEqual([]);
    expect(summaryMetrics(`${'['.repeat(5_000)}`, 'metrics.json')).toEqual([]);
    expect(summaryMetrics('{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}', 'metrics.json')).toEqual([]);
    expect(trainerHistory('{"log_history": 3}')).toEqual([]);
    expect(trainerHistory('[NaN]')).toEqual([]);
  });

  test('is known by its name', () => {
    expect(
      ['lightning_logs/version_0/metrics.csv', 'a/events.out.tfevents.17.host.1', 'eval_metrics.json'].map(
        metricFileKind,
      ),
    ).toEqual(['csv', 'tensorboard', 'summary']);
    expect(['package.json', 'config.json', 'model.pt', 'debug.log'].map(metricFileKind)).toEqual(
      Array(4).fill(undefined),
    );
  });
});
