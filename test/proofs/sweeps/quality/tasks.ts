import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Parameters } from '../../../../shared/sweeps/spec/parameter.ts';
import type { Params } from '../../../../shared/sweeps/types.ts';

/** Something to minimize. */
export interface Task {
  name: string;
  parameters: Parameters;
  /** Losses after each epoch; of a function its value alone. The last one counts. */
  curve(params: Params): readonly number[];
}

/** Read the tasks: two functions, and three tables of real trainings. */
export async function readTasks(): Promise<Task[]> {
  return [branin, hartmann6, ...(await Promise.all(['digits', 'cancer', 'diabetes'].map(tableTask)))];
}

/** Branin's function, whose three minima are 0.397887. */
const branin: Task = {
  name: 'branin',
  parameters: { x: { min: -5, max: 10 }, y: { min: 0, max: 15 } },
  curve({ x, y }) {
    const [first, second] = [Number(x), Number(y)];
    const bend = second - (5.1 / (4 * Math.PI ** 2)) * first ** 2 + (5 / Math.PI) * first - 6;
    return [bend ** 2 + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(first) + 10];
  },
};

const alphas = [1, 1.2, 3, 3.2];
const widths = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const centers = [
  [1312, 1696, 5569, 124, 8283, 5886],
  [2329, 4135, 8307, 3736, 1004, 9991],
  [2348, 1451, 3522, 2883, 3047, 6650],
  [4047, 8828, 8732, 5743, 1091, 381],
];

/** Hartmann's function of six dimensions, whose minimum is -3.32237. */
const hartmann6: Task = {
  name: 'hartmann6',
  parameters: Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`x${at}`, { min: 0, max: 1 }])),
  curve(params) {
    const values = alphas.map((alpha, row) => {
      const exponent = (widths[row] ?? []).reduce(
        (sum, width, at) =>
          sum + width * (Number(params[`x${at}`]) - (centers[row]?.[at] ?? 0) / 10_000) ** 2,
        0,
      );
      return alpha * Math.exp(-exponent);
    });
    return [-values.reduce((sum, value) => sum + value, 0)];
  },
};

interface Table {
  sizes: Record<string, number>;
  curves: number[][];
}

/** A table that `train-tables.py` wrote. Its parameters are the places on its axes. */
async function tableTask(name: string): Promise<Task> {
  const path = join(import.meta.dirname, `../../../fixtures/sweeps/tables/${name}.json`);
  const { sizes, curves }: Table = JSON.parse(await readFile(path, 'utf8'));
  return {
    name,
    parameters: Object.fromEntries(
      Object.entries(sizes).map(([axis, size]) => [axis, { min: 0, max: size - 1, step: 1 }]),
    ),
    curve(params) {
      const row = Object.entries(sizes).reduce((at, [axis, size]) => at * size + Number(params[axis]), 0);
      const curve = curves[row];
      if (curve === undefined) throw new RangeError(`${name} has no training of ${JSON.stringify(params)}`);
      return curve;
    },
  };
}
