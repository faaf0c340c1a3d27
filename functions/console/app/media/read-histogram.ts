import { tryParseJson } from '../../../../shared/core/text/try-parse-json.ts';
import type { StepHistogram } from '../charts/values/histogram-grid.ts';

/** Read a file `{"bins": [edges], "values": [counts]}`, with one edge more than counts; undefined for another one. */
export function readHistogram(text: string, step: number): StepHistogram | undefined {
  const file = tryParseJson(text);
  if (typeof file !== 'object' || file === null || !('bins' in file) || !('values' in file)) return undefined;
  const { bins: edges, values: counts } = file;
  if (!isNumbers(edges) || !isNumbers(counts) || edges.length !== counts.length + 1) return undefined;
  const bins = counts.flatMap((count, at) => {
    const [low = 0, high = 0] = edges.slice(at, at + 2);
    return count > 0 ? [{ low: Math.min(low, high), high: Math.max(low, high), count }] : [];
  });
  return { step, bins };
}

const isNumbers = (list: unknown): list is number[] =>
  Array.isArray(list) && list.every((value) => typeof value === 'number');
