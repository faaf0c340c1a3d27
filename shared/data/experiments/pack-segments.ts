import { newId } from '../../core/new-id.ts';
import { packBlock } from '../packed/block-list.ts';
import type { SegmentRef } from './catalogue.ts';
import { segmentColumns } from './catalogue-segment.ts';
import type { ExperimentRow } from './experiment-row.ts';

/** Rows of a segment at most. */
const maxSegmentRows = 500;

/** The rows in segments that fit an item each, and those that fit none. */
export function packSegments(rows: readonly ExperimentRow[]): {
  segments: { ref: SegmentRef; packed: Uint8Array }[];
  large: ExperimentRow[];
} {
  if (rows.length === 0) return { segments: [], large: [] };
  const packed = rows.length > maxSegmentRows ? undefined : packBlock(segmentColumns(rows));
  const [first, last] = [rows[0], rows.at(-1)];
  if (packed !== undefined && first !== undefined && last !== undefined) {
    const ref = {
      id: newId(),
      first: first.experiment_id,
      last: last.experiment_id,
      rows: rows.length,
      dead: [],
    };
    return { segments: [{ ref, packed }], large: [] };
  }
  if (rows.length === 1) return { segments: [], large: [...rows] };
  const half = rows.length > maxSegmentRows ? maxSegmentRows : Math.ceil(rows.length / 2);
  const [one, other] = [packSegments(rows.slice(0, half)), packSegments(rows.slice(half))];
  return { segments: [...one.segments, ...other.segments], large: [...one.large, ...other.large] };
}
