import { dirname } from 'node:path';
import { importedModules } from './imports.ts';

/** A behaviour that a reader follows from its definition to its outcome. */
interface Way {
  about: string;
  /** Where the reader begins: definitions, programs of jobs and events. */
  starts: readonly string[];
  /** The rooms that the behaviour leads through. What lies elsewhere is called by its name and need not be opened. */
  rooms: readonly string[];
}

const lifeOfJob = ['shared/jobs', 'shared/jobs/admission', 'shared/jobs/observation', 'shared/data/jobs'];
const container = ['shared/runner', 'shared/runner/job'];

export const ways: readonly Way[] = [
  {
    about: 'POST train to its outcome',
    starts: [
      'functions/projects/training/train-project.endpoint.ts',
      'functions/jobs/train.job.ts',
      'functions/events/job-state-changed.event.ts',
    ],
    rooms: ['functions/projects/training', ...lifeOfJob, ...container, 'shared/runner/training'],
  },
  {
    about: 'a quantization to its receipt',
    starts: [
      'functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts',
      'functions/jobs/quantize.job.ts',
    ],
    rooms: [
      'functions/optimization/compressions',
      ...lifeOfJob,
      ...container,
      'shared/runner/compression',
      'shared/onnx/engine/optimize',
      'shared/onnx/receipt',
    ],
  },
  {
    about: 'an MLflow batch to its history',
    starts: ['shared/mlflow/runs/log-routes.ts'],
    rooms: [
      'shared/mlflow/runs',
      'shared/mlflow/protocol',
      'shared/experiments',
      'shared/data/metrics',
      'shared/data/experiments',
    ],
  },
];

/**
 * The files that following a way opens: its starts, and every file of its rooms that one of them imports for a value,
 * directly or through other files of the rooms. A reader who skips what a name tells opens about two thirds of them.
 */
export function filesOfWay({ starts, rooms }: Way, texts: ReadonlyMap<string, string>): string[] {
  const opened = new Set<string>();
  const waiting = [...starts];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const text = texts.get(path);
    if (text === undefined) throw new Error(`${path} begins a way and is not there`);
    if (opened.has(path)) continue;
    opened.add(path);
    const next = importedModules(path, text);
    waiting.push(...next.filter((other) => texts.has(other) && rooms.includes(dirname(other))));
  }
  return [...opened];
}
