import { appendFile, cp, mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MetricPoint } from '../../../../shared/data/metrics/metric-summary.ts';
import { isVoid, type VoidPoints } from '../../../../shared/data/metrics/purge-points.ts';
import { SecretMask } from '../../../../shared/runner/host/secret-mask.ts';
import { FileMetrics } from '../../../../shared/runner/outputs/file-metrics.ts';
import { MetricSource } from '../../../../shared/runner/outputs/metric-source.ts';
import { PrintedMetricsSource } from '../../../../shared/runner/outputs/printed-metrics-source.ts';
import { everySample } from '../../../support/samples.ts';
import {
  eventOf,
  hparamsOf,
  recordOf,
  scalarOf,
  startOf,
} from '../../../unit/runner/metric-files/event-files.ts';

const now = new Date('2026-01-02T03:04:05.678Z');

describe('metrics in files of frameworks', () => {
  let folder: string;
  let points: MetricPoint[];
  let said: string[];
  let sources: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'file-metrics-'));
    [points, said, sources] = [[], [], []];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function put(path: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }

  /** The readers of a run, as `collectOutputs` connects them. */
  async function readers(waits?: { patience: number; filePatience: number }) {
    const source = new MetricSource((found) => sources.push(found), waits);
    const found = {
      source,
      now: () => now,
      say: (message: string) => said.push(message),
      isWatched: async () => true,
      sink: {
        append: async (_: number, more: readonly MetricPoint[]) => void points.push(...more),
        async purge(given: VoidPoints) {
          points = points.filter((point) => !isVoid(given, point));
        },
      },
    };
    const log = new PrintedMetricsSource({ ...found, rules: undefined });
    const files = new FileMetrics({
      ...found,
      folders: [folder],
      user: undefined,
      mask: new SecretMask(['hunter22']),
      readMilliseconds: 5,
      searchMilliseconds: 5,
    });
    await files.note();
    return {
      ...{ source, log, files },
      async end() {
        await files.close();
        await log.close();
        await files.closeSummaries((name) => log.has(name));
      },
    };
  }

  const taken = () => points.map(({ name, step, value }) => [name, step, value]);

  test('are those of TensorBoard, live, also where the log prints some', async () => {
    const { files, log, end } = await readers({ patience: 0, filePatience: 1e9 });
    files.start();
    const events = join('runs', 'a', 'events.out.tfevents.1.host');
    await put(events, recordOf(eventOf(1, scalarOf('train/loss', 0.5))));
    await expect.poll(() => points.length).toBe(1);
    log.read('stdout', ['epoch 1: loss 0.9']);
    const next = recordOf(eventOf(2, scalarOf('train/loss', 0.25)));
    await appendFile(join(folder, events), next.subarray(0, 20));
    await appendFile(join(folder, events), next.subarray(20));
    await expect.poll(() => points.length).toBe(2);
    await end();

    expect(points[0]).toEqual({ name: 'train/loss', value: 0.5, step: 1, time: 1_764_000_000_000 });
    expect(sources).toEqual(['tensorboard']);
    expect(said).toEqual([
      'Metrics are read from "runs/a/events.out.tfevents.1.host", because the program reports none itself.',
    ]);
  });

  test('lose the points of a folder that a later writer of it purges', async () => {
    const { end } = await readers();
    const loss = (step: number, value: number) => recordOf(eventOf(step, scalarOf('loss', value)));
    const other = recordOf(eventOf(3, scalarOf('acc', 1)));
    await put('runs/a/events.out.tfevents.1.host', Buffer.concat([loss(1, 11), loss(2, 12), loss(3, 13)]));
    await put('runs/a/events.out.tfevents.2.host', Buffer.concat([recordOf(startOf(2)), loss(2, 22)]));
    await put('runs/b/events.out.tfevents.3.host', other);
    await end();

    expect(taken().toSorted()).toEqual([
      ['acc', 3, 1],
      ['loss', 1, 11],
      ['loss', 2, 22],
    ]);
  });

  test('come with the hyperparameters of their sessions, also where the program reports its metrics itself', async () => {
    const { source, files, end } = await readers();
    const session = (params: Record<string, number | string | boolean>) =>
      recordOf(eventOf(0, hparamsOf(params)));
    source.report();
    await put(
      'runs/a/events.out.tfevents.1.host',
      Buffer.concat([
        session({ lr: 0.1, batch: 32, optimizer: 'adam', nesterov: true, token: 'hunter22', seed: 1 }),
        recordOf(eventOf(0, scalarOf('hp/acc', 0.9))),
      ]),
    );
    await put('runs/b/events.out.tfevents.2.host', session({ lr: 0.1, seed: 2 }));
    await end();

    expect(files.params).toEqual({ lr: 0.1, batch: 32, optimizer: 'adam', nesterov: true, token: '***' });
    expect(points).toEqual([]);
  });

  test('that are stored before a writer purges them are removed before its own are stored', async () => {
    const { files, end } = await readers({ patience: 0, filePatience: 0 });
    files.start();
    const loss = (step: number, value: number) => recordOf(eventOf(step, scalarOf('loss', value)));
    await put('runs/a/events.out.tfevents.1.host', Buffer.concat([loss(1, 11), loss(3, 13)]));
    await expect.poll(() => points.length).toBe(2);
    await put('runs/a/events.out.tfevents.2.host', Buffer.concat([recordOf(startOf(2)), loss(2, 22)]));
    await end();

    expect(taken()).toEqual([
      ['loss', 1, 11],
      ['loss', 2, 22],
    ]);
  });

  test('are not those of a step beyond 2^53, which would be kept as another one', async () => {
    const { end } = await readers({ patience: 0, filePatience: 0 });
    await put('metrics.csv', 'step,loss\n1,0.5\n9007199254740993,0.25\n');
    await end();

    expect(taken()).toEqual([['loss', 1, 0.5]]);
    expect(said).toContain('A point of "loss" is left out: its step is beyond 2^53 - 1.');
  });

  test('are none where the program reports its own', async () => {
    const { source, end } = await readers();
    await put('metrics.csv', 'step,loss\n1,0.5\n');
    await put('metrics.json', '{"auc": 0.5}');
    source.report();
    await end();

    expect([points, sources, said]).toEqual([[], [], []]);
  });

  test.runIf(everySample)(
    'are those of a table, once each, though it grows, shrinks and is written anew',
    async () => {
      const { files, end } = await readers({ patience: 0, filePatience: 0 });
      files.start();
      await put('logs/metrics.csv', 'epoch,step,loss\n0,1,0.5\n0,2,0.');
      await expect.poll(() => points.length).toBe(1);
      await put('logs/new', 'epoch,step,loss,val_loss\n0,1,0.5,\n0,2,0.25,\n0,2,,0.75\n');
      await rename(join(folder, 'logs/new'), join(folder, 'logs/metrics.csv'));
      await expect.poll(() => points.length).toBe(3);
      await truncate(join(folder, 'logs/metrics.csv'), 0);
      await end();

      expect(taken()).toEqual([
        ['loss', 1, 0.5],
        ['loss', 2, 0.25],
        ['val_loss', 2, 0.75],
      ]);
    },
  );

  test('complete those of a log that came first, as where timm prints before its table has a row', async () => {
    const { files, log, end } = await readers({ patience: 0, filePatience: 0 });
    files.start();
    log.read('stdout', ['Train: 0 [   0/5 (  0%)]  Loss: 0.700 (0.700)  LR: 1.000e-02']);
    await put('output/summary.csv', 'epoch,train_loss,eval_top1,lr\n0,0.7,50,0.02\n');
    await put(
      'vis_data/scalars.json',
      '{"accuracy/top1": 75.5, "step": 1, "time": 3}\n{"accuracy/top1": 80.5, "step": 2}\n',
    );
    await end();

    const names = new Set(points.map(({ name }) => name));
    expect(names).toEqual(new Set(['loss', 'lr', 'train_loss', 'eval_top1', 'accuracy/top1']));
    expect(taken().filter(([name]) => name === 'lr')).toEqual([['lr', 0, 0.01]]);
    expect(sources).toEqual(['log', 'csv']);
  });

  test('are those of JSON lines, also in metrics.json, and of tables with decimal commas', async () => {
    const { end } = await readers();
    await put(
      'output/metrics.json',
      '{"iteration": 19, "total_loss": 1.5, "lr": 0.1}\n{"iteration": 39, "total_loss": 0.5}\n',
    );
    await put(
      '20230101.log.json',
      '{"env_info": "x"}\n{"mode": "train", "epoch": 1, "iter": 50, "loss": 0.5}\n{"mode": "val", "epoch": 1, "iter": 9, "mAP": 0.3}\n',
    );
    await put('excel.csv', 'epoch;val_acc\n1;0,75\n');
    await put('notes.jsonl', '{"step": 1, "loss": 9}\n{"step": 2, "loss": 9}\n');
    await end();

    expect(taken().toSorted()).toEqual([
      ['loss', 1, 0.5],
      ['lr', 19, 0.1],
      ['total_loss', 19, 1.5],
      ['total_loss', 39, 0.5],
      ['val_acc', 1, 0.75],
      ['val_mAP', 1, 0.3],
    ]);
  });

  test('of a log end with its last value, whatever counts its steps', async () => {
    const { log, end } = await readers();
    const batches = Array.from({ length: 5 }, (_, at) => `Epoch: [0][ ${at}/5] Loss 0.${9 - at} (0.9)`);
    log.read('stdout', [...batches, 'Epoch 1: loss 0.05', 'Epoch 2: loss 0.04', 'Epoch 1: loss 0.03']);
    await end();

    const steps = points.map(({ step }) => step ?? 0);
    expect(points.at(-1)).toMatchObject({ value: 0.03, step: Math.max(...steps) });
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  });

  test('that were there before count only for what is added', async () => {
    await put('runs/old/events.out.tfevents.1.host', recordOf(eventOf(1, scalarOf('old', 0.5))));
    await put('train.csv', 'epoch,loss\n0,0.9\n');
    await put('checkpoint-1/trainer_state.json', '{"log_history": [{"loss": 0.9, "step": 1}]}');
    await put('metrics.json', '{"auc": 0.5}');
    const { end } = await readers();
    await appendFile(join(folder, 'train.csv'), '1,0.8\n');
    await cp(join(folder, 'checkpoint-1'), join(folder, 'checkpoint-2'), { recursive: true });
    await end();

    expect(taken()).toEqual([['loss', 1, 0.8]]);
  });

  test('are the history of a trainer once, though each checkpoint repeats it', async () => {
    const { end } = await readers();
    const first = { loss: 0.5, step: 10 };
    await put('out/checkpoint-10/trainer_state.json', JSON.stringify({ log_history: [first] }));
    await put(
      'out/checkpoint-20/trainer_state.json',
      JSON.stringify({ log_history: [first, { eval_loss: 1, step: 20 }] }),
    );
    await end();

    expect(taken()).toEqual([
      ['loss', 10, 0.5],
      ['eval_loss', 20, 1],
    ]);
    expect(sources).toEqual(['trainer']);
  });

  test('are single values at the end, which complete those of the log', async () => {
    const { log, end } = await readers();
    log.read('stdout', ['epoch 1: loss 0.9']);
    await put('eval/metrics.json', '{"loss": 3, "auc": 0.5, "hunter22": 1}');
    await end();

    expect(taken()).toEqual([
      ['loss', 1, 0.9],
      ['auc', null, 0.5],
      ['***', null, 1],
    ]);
    expect(sources).toEqual(['log']);
  });

  test('stand beside the values of trials, also where the log printed other metrics before the first trial ended', async () => {
    const { files, log, end } = await readers({ patience: 0, filePatience: 1e9 });
    files.start();
    await put('catboost_info/metrics.csv', 'step,loss\n1,0.5\n');
    await expect.poll(() => points.length).toBe(1);
    log.read('stdout', ['epoch 1: loss 0.9']);
    log.read('stderr', ['[I 2026-01-02 03:04:05,678] Trial 0 finished with value: 0.25 and parameters: {}.']);
    await end();

    expect(taken()).toEqual([
      ['loss', 1, 0.5],
      ['value', 0, 0.25],
    ]);
  });

  test.runIf(everySample)(
    'are bounded, and nothing else is read: links, pictures, large and hostile files',
    async () => {
      await put('secret.csv', 'step,loss\n1,0.5\n');
      const { end } = await readers();
      await symlink('/etc/passwd', join(folder, 'metrics.json'));
      await put(
        'scores.json',
        JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`m${at}`, at]))),
      );
      await put('predictions.csv', 'id,score\n1,0.5\n');
      await put('events.out.tfevents.hostile', Buffer.alloc(100_000, 0xff));
      await put('events.out.tfevents.sparse', Buffer.alloc(1));
      await truncate(join(folder, 'events.out.tfevents.sparse'), 4e12);
      await truncate(join(folder, 'scores.json'), 20_000_000);
      await end();
      expect(points).toEqual([]);

      const again = await readers();
      const header = Array.from({ length: 900 }, (_, at) => `loss_${at}`).join(',');
      const other = header.replaceAll('loss', 'acc');
      await put('a/metrics.csv', `step,${header}\n1${',1'.repeat(900)}\n`);
      await put('b/metrics.csv', `step,${other}\n1${',1'.repeat(900)}\n`);
      await again.end();
      expect(points).toHaveLength(1_000);
      expect(again.files.warnings).toEqual([
        'There are more than 1000 metrics in the tables of metrics; the others are not taken from there.',
      ]);
    },
  );
});
