import { describe, expect, test } from 'vitest';
import { sectionsOf } from '../../../functions/console/app/charts/sections.ts';
import { completionsOf } from '../../../functions/console/app/experiments/filter/completions.ts';
import { conditionFor, withCondition } from '../../../functions/console/app/experiments/filter/conditions.ts';
import { filterRows } from '../../../functions/console/app/experiments/filter/filter-rows.ts';
import {
  groupFilter,
  groupRows,
  spreadDecimals,
  spreadOf,
  spreadText,
} from '../../../functions/console/app/experiments/groups/group-rows.ts';
import { orderText, readOrder, sortRows } from '../../../functions/console/app/experiments/sort-rows.ts';
import {
  columnOf,
  joinIds,
  metricColumn,
  namesIn,
  paramColumn,
  splitIds,
  usualColumns,
} from '../../../functions/console/app/runs/columns.ts';
import { Ranking } from '../../../functions/console/app/runs/ranking.ts';
import type { Row } from '../../../functions/console/app/runs/row.ts';
import { shownStatus } from '../../../functions/console/app/ui/states/shown-status.ts';
import { regularExpression } from '../../../shared/search/regular-expression.ts';

const time = '2026-01-05T08:00:00.000Z';

function rowWith(index: number, changes: Partial<Row> = {}): Row {
  return {
    experiment_id: `id${index}`,
    project_id: 'p',
    user: 'ada',
    name: `run-${index}`,
    kind: 'logged',
    status: 'SUCCEEDED',
    status_reason: null,
    config_id: null,
    created_at: time,
    started_at: time,
    stopped_at: time,
    duration: index,
    cost: null,
    best: null,
    params: {},
    tags: {},
    metrics: {},
    sweep_id: null,
    trial: null,
    outcome: null,
    sparkline: null,
    warnings: [],
    ...changes,
  };
}
const metric = (last: number | 'NaN' | 'Infinity') => ({
  last,
  min: last,
  max: last,
  step: 1,
  time,
  count: 1,
});
const withAccuracy = (index: number, last: number | 'NaN' | 'Infinity'): Row =>
  rowWith(index, { metrics: { accuracy: metric(last) } });
const idsOf = (rows: readonly Row[]): string[] => rows.map(({ experiment_id }) => experiment_id);

describe('the order of an address', () => {
  const accuracy = { name: 'accuracy', goal: 'maximize' } as const;
  const loss = { name: 'loss', goal: 'minimize' } as const;

  test('by the best value is read as it was written, whatever the goal is', () => {
    for (const judge of [accuracy, loss])
      for (const isDescending of [true, false])
        expect(readOrder(orderText({ id: 'best' }, isDescending, judge), judge)).toEqual({
          id: 'best',
          isDescending,
        });
    expect(orderText({ id: 'best' }, true, accuracy)).toBe('best');
    expect(orderText({ id: 'best' }, true, loss)).toBe('worst');
  });

  test('by `-best` of an earlier release shows the greatest values first', () => {
    for (const judge of [accuracy, loss]) expect(readOrder('-best', judge).isDescending).toBe(true);
  });
});

describe('sorting', () => {
  const rows = [
    withAccuracy(0, 'NaN'),
    withAccuracy(1, 0.5),
    rowWith(2),
    withAccuracy(3, 0.9),
    withAccuracy(4, 'Infinity'),
  ];

  test('drops no row, and has NaN and then missing values last in both directions', () => {
    const column = metricColumn('accuracy');
    expect(idsOf(sortRows(rows, { column, isDescending: true }))).toEqual([
      'id4',
      'id3',
      'id1',
      'id0',
      'id2',
    ]);
    expect(idsOf(sortRows(rows, { column, isDescending: false }))).toEqual([
      'id1',
      'id3',
      'id4',
      'id0',
      'id2',
    ]);
  });

  test('compares params as the numbers that they are', () => {
    const given = ['10', '9', '1e-3', 'auto'].map((lr, index) => rowWith(index, { params: { lr } }));
    const order = { column: paramColumn('lr'), isDescending: false };
    expect(idsOf(sortRows(given, order))).toEqual(['id2', 'id1', 'id0', 'id3']);
    // Texts come behind numbers in both directions, as in the service's order.
    expect(idsOf(sortRows(given, { ...order, isDescending: true }))).toEqual(['id0', 'id1', 'id2', 'id3']);
  });
});

describe('the filter box', () => {
  const rows = [
    rowWith(0, {
      name: 'baseline',
      params: { lr: '0.1', device: 'cuda:0' },
      metrics: { 'val loss': metric(0.2) },
    }),
    rowWith(1, {
      user: 'grace',
      name: 'wide',
      params: { lr: '0.01' },
      tags: { stage: 'it’s new' },
      status: 'FAILED',
    }),
  ];

  test.each([
    ['', ['id0', 'id1']],
    ['BASE', ['id0']],
    ['params.lr < 0.05', ['id1']],
    ['metrics.`val loss` < 1 AND status = "SUCCEEDED"', ['id0']],
    ['tags.stage IS NOT NULL', ['id1']],
    ['attributes.name LIKE "wi%"', ['id1']],
    ["user = 'ada'", ['id0']],
    ['experiment_id = id1', ['id1']],
    ['run_name ~ ^wi', ['id1']],
    ['end_time IS SET', ['id0', 'id1']],
  ])('finds by %s', (filter, ids) => {
    expect(idsOf(filterRows(rows, filter, undefined, regularExpression).rows)).toEqual(ids);
  });

  test.each([
    ['a param without its group', 'lr < 0.05', ['id1']],
    ['a status in small letters', 'status = failed', ['id1']],
    ['the word of a status', 'failed', ['id1']],
    ['a condition and a word', 'lr > 0.05 base', ['id0']],
    ['a value of a param', '0.01', ['id1']],
    ['a user', 'user:grace', ['id1']],
    ['a value with a colon', 'cuda:0', ['id0']],
  ])('finds by %s, without the grammar', (_, filter, ids) => {
    const found = filterRows(rows, filter);
    expect([found.fault, idsOf(found.rows)]).toEqual([undefined, ids]);
  });

  test('says which name was meant', () => {
    expect(filterRows(rows, 'learing_rte < 3').fault).toBe(
      'The filter has learing_rte, which no experiment has as a param, metric or tag.',
    );
    expect(filterRows(rows, 'lrr > 0.5').fault).toContain('did you mean lr?');
  });

  test('reads a name without its group from each experiment as the service does: as param, metric or tag', () => {
    const own = [
      rowWith(0, { params: { depth: '3' } }),
      rowWith(1, { metrics: { depth: metric(3) } }),
      rowWith(2, { tags: { depth: '3' } }),
      rowWith(3, { params: { depth: '4' }, metrics: { depth: metric(3) } }),
    ];
    expect(idsOf(filterRows(own, 'depth = 3').rows)).toEqual(['id0', 'id1', 'id2']);
    expect(filterRows(own, 'Depth = 3').fault).toContain('did you mean depth?');
  });

  test('says what a condition lacks while somebody types it', () => {
    const rows = [rowWith(0, { params: { lr: '1' } })];
    for (const text of ['lr <', 'lr =', 'lr >= '])
      expect(filterRows(rows, text)).toEqual({
        rows,
        fault: `A value is missing after ${text.trim().slice(3)}.`,
      });
  });

  test.each([
    ['lr < 0.05 or base', ['id0', 'id1']],
    ['not wide', ['id0']],
    ['status in (failed, running)', ['id1']],
    ['stage is not set', ['id0']],
    ['duration < 1m and lr between 0.05 and 1', ['id0']],
    ['(wide or base) created_at < yesterday', ['id0', 'id1']],
  ])('understands %s', (filter, ids) => {
    const found = filterRows(rows, filter);
    expect([found.fault, idsOf(found.rows)]).toEqual([undefined, ids]);
  });

  test('understands regular expressions once their engine is there', () => {
    expect(filterRows(rows, 'device ~ ^cuda').fault).toBe('Regular expressions are loading…');
    expect(idsOf(filterRows(rows, 'device ~ ^cuda', undefined, regularExpression).rows)).toEqual(['id0']);
  });

  test('says why no experiment is left', () => {
    expect(filterRows(rows, 'lr = 0.1 lr = 0.01').reason).toBe(
      '1 with lr = 0.1, 1 with lr = 0.01, none with all',
    );
    expect(filterRows(rows, 'base lr > 3').reason).toBe('none has lr > 3');
  });

  test('keeps the rows while the name of a condition is typed', () => {
    for (const filter of ['dev', 'wide and devi', 'base devi', 'dur'])
      expect(filterRows(rows, filter).rows.length).toBeGreaterThan(0);
    expect(filterRows(rows, 'nothing').rows).toEqual([]);
  });

  test('adds a condition to both sides of an OR', () => {
    expect(withCondition('', 'kind = logged')).toBe('kind = logged');
    expect(withCondition('adam or lion ', 'kind = logged')).toBe('(adam or lion) AND kind = logged');
  });

  test('says where a filter is wrong, and shows all meanwhile', () => {
    const { rows: shown, fault } = filterRows(rows, 'metrics.accuracy > ');
    expect(shown).toHaveLength(2);
    expect(fault).toBe('A value is missing after >.');
  });

  test.each(["it's", 'a `b` c', 'plain'])('takes the condition that is made for the value %s', (value) => {
    const own = [rowWith(0, { tags: { 'my tag`s': value } }), rowWith(1)];
    expect(idsOf(filterRows(own, conditionFor('tags', 'my tag`s', value)).rows)).toEqual(['id0']);
  });
});

describe('what completes a filter', () => {
  const own = [
    rowWith(0, {
      params: { 'batch size': '8', status: 'odd', ['größe']: 'ü', 'opt.name': "o'neill" },
      tags: { not: 'no', 'metrics.x': '1' },
    }),
    rowWith(1),
  ];
  const names = namesIn(own);
  const completed = (typed: string) => completionsOf(typed, own, names).map(({ filter }) => filter);

  test.each([
    ['batch', '`batch size` ', '`batch size` = 8 '],
    ['(stat', '(params.status ', '(params.status = odd '],
    ['grö', 'größe ', 'größe = ü '],
    ['opt', 'opt.name ', "opt.name = 'o''neill' "],
    ['no', 'tags.not ', 'tags.not = no '],
    ['metrics', 'tags.metrics.x ', 'tags.metrics.x = 1 '],
  ])('%s can be taken: %s', (typed, name, condition) => {
    expect(completed(typed)).toContain(name);
    expect(completed(`${name}= `)).toEqual([condition]);
    const found = filterRows(own, condition.replace('(', ''));
    expect([found.fault, idsOf(found.rows)]).toEqual([undefined, ['id0']]);
  });
});

describe('columns', () => {
  test.each(['status', 'metrics.a:b:max', 'params.a,b', 'tags.x', 'course'])(
    '%s is found again by its id',
    (id) => {
      expect(columnOf(id)?.id).toBe(id);
      expect(splitIds(joinIds(['created', id, 'cost']))).toEqual(['created', id, 'cost']);
    },
  );

  test('of names that objects have by themselves have no values', () => {
    for (const id of ['params.constructor', 'tags.__proto__', 'metrics.toString'])
      expect(columnOf(id)?.value(rowWith(0))).toBeUndefined();
  });

  test('are those that tell experiments apart, where nobody has chosen', () => {
    const rows = [0, 1].map((index) => rowWith(index, { params: { lr: String(index), seed: '1' } }));
    expect(usualColumns(namesIn(rows))).toContain('params.lr');
    expect(usualColumns(namesIn(rows))).not.toContain('params.seed');
  });

  test('have what was measured on validation data in front, and no counters before results', () => {
    const names = ['epoch', 'lr', 'step', 'train/loss', 'train_loss_step', 'accuracy', 'val/loss', 'val_acc'];
    const metrics = Object.fromEntries(names.map((name) => [name, metric(1)]));
    const usual = usualColumns(namesIn([rowWith(0, { metrics })]));
    expect(usual.filter((id) => id.startsWith('metrics.'))).toEqual([
      'metrics.val_acc:last',
      'metrics.val/loss:last',
      'metrics.accuracy:last',
    ]);
  });

  test('are no speeds of a program, such as those that Trainer logs', () => {
    const names = ['eval_loss', 'eval_runtime', 'eval_samples_per_second', 'loss', 'grad_norm', 'total_flos'];
    const metrics = Object.fromEntries(names.map((name) => [name, metric(1)]));
    const usual = usualColumns(namesIn([rowWith(0, { metrics })]));
    expect(usual.filter((id) => id.startsWith('metrics.'))).toEqual([
      'metrics.eval_loss:last',
      'metrics.loss:last',
    ]);
  });
});

describe('groups', () => {
  test('have mean and sample deviation of finite values', () => {
    expect(spreadOf([2, 4, 4, 4, 5, 5, 7, 9, Number.NaN, undefined, 'text'])).toEqual({
      count: 8,
      mean: 5,
      deviation: Math.sqrt(32 / 7),
    });
    expect(spreadOf([1e9 + 1, 1e9 + 2, 1e9 + 3])?.deviation).toBe(1);
    expect(spreadOf([])).toBeUndefined();
  });

  test('have as many decimal places as most of their column, unless their deviation supports others', () => {
    const column = metricColumn('accuracy');
    const spreads = [0.04, 0.07, 0.14, 0.0003].map((deviation) => ({ count: 2, mean: 0.5, deviation }));
    const decimals = spreadDecimals(spreads);
    expect(spreads.map((spread) => spreadText(spread, column, decimals))).toEqual([
      '0.500 ± 0.040',
      '0.500 ± 0.070',
      '0.500 ± 0.140',
      '0.50000 ± 0.00030',
    ]);
    expect(spreadDecimals([{ count: 1, mean: 1, deviation: undefined }])).toBeUndefined();
  });

  test('keep every row, those without a value too', () => {
    const rows = [rowWith(0, { params: { lr: '1' } }), rowWith(1, { params: { lr: '1' } }), rowWith(2)];
    const groups = groupRows(rows, [paramColumn('lr')], [metricColumn('accuracy')]);
    expect(groups.map(({ parts, rows: own }) => [parts[0]?.value, own.length])).toEqual([
      ['1', 2],
      [undefined, 1],
    ]);
  });

  test('of many numbers are bins, by powers of ten where the numbers span some, each of which a filter finds', () => {
    for (const valueAt of [(at: number) => at * 0.37 - 5, (at: number) => 10 ** (-5 + at / 15)]) {
      const rows = Array.from({ length: 60 }, (_, at) =>
        rowWith(at, { params: { lr: String(valueAt(at)) } }),
      );
      const groups = groupRows(rows, [paramColumn('lr')], []);
      expect(groups.length).toBeGreaterThan(3);
      expect(groups.length).toBeLessThan(20);
      expect(groups.flatMap(({ rows: own }) => own)).toHaveLength(rows.length);
      const bounds = groups.map(({ parts }) => parts[0]?.bin?.from ?? Number.NaN);
      expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
      for (const group of groups) {
        const { rows: own } = group;
        const found = filterRows(rows, groupFilter(group, [paramColumn('lr')]) ?? '');
        expect(found).toEqual({ rows: own, fault: undefined });
      }
    }
  });

  test('of several params are one for each combination, which a filter finds', () => {
    const by = [paramColumn('optimizer'), paramColumn('depth')];
    const rows = Array.from({ length: 12 }, (_, at) =>
      rowWith(at, { params: { optimizer: at % 2 === 0 ? 'adam' : 'sgd', depth: String(at % 3) } }),
    );

    const groups = groupRows([...rows, rowWith(12, { params: { depth: '1' } })], by, []);

    expect(groups).toHaveLength(7);
    for (const group of groups.slice(0, 6)) {
      expect(group.rows).toHaveLength(2);
      expect(filterRows(rows, groupFilter(group, by) ?? '').rows).toEqual(group.rows);
    }
    expect(groupFilter(groups[6] ?? { parts: [] }, by)).toBeUndefined();
  });

  test('of few numbers, and of words among numbers, are as they were', () => {
    const rows = Array.from({ length: 40 }, (_, at) =>
      rowWith(at, { params: { few: String(at % 20), mixed: at === 0 ? 'auto' : String(at) } }),
    );
    expect(groupRows(rows, [paramColumn('few')], [])).toHaveLength(20);
    expect(groupRows(rows, [paramColumn('mixed')], [])).toHaveLength(40);
  });
});

describe('the metrics of charts', () => {
  const judge = { name: 'loss', goal: 'minimize' } as const;

  test('stand in sections by prefix, that of the criterion first and that of the machine last', () => {
    const names = ['system/gpu', 'train/loss', 'lr', 'val/acc', 'val/loss', 'f1'];

    expect(sectionsOf(names, judge)).toEqual([
      { name: 'val', metrics: ['val/loss', 'val/acc'] },
      { name: 'train', metrics: ['train/loss'] },
      { name: '', metrics: ['f1', 'lr'] },
      { name: 'system', metrics: ['system/gpu'] },
    ]);
  });

  test('make the best value of a row by any criterion, without asking the service', () => {
    const summary = { step: 1, time, count: 2 };
    const row = rowWith(1, {
      metrics: {
        'train/loss': { ...summary, last: 0.1, min: 0.1, max: 2 },
        'val/loss': { ...summary, last: 0.4, min: 0.3, max: 2 },
        'val/acc': { ...summary, last: 'NaN', min: 0.2, max: 0.9 },
      },
    });

    expect(new Ranking(judge).best(row)).toMatchObject({ metric: 'val/loss', value: 0.3 });
    expect(new Ranking({ name: 'accuracy', goal: 'maximize' }).best(row)?.value).toBe(0.9);
    expect(new Ranking({ name: 'f1', goal: 'maximize' }).best(row)).toBeNull();
    expect(new Ranking(undefined).best(row)).toBe(row.best);
  });
});

test('a trial that its sweep stopped early is not shown as cancelled', () => {
  const shown = (status: Row['status'], outcome: Row['outcome']) =>
    shownStatus(rowWith(1, { status, outcome }));

  expect(shown('CANCELLED', 'stopped early')).toBe('stopped early');
  expect(shown('CANCELLED', 'cancelled')).toBe('CANCELLED');
  expect(shown('RUNNING', null)).toBe('RUNNING');
});
