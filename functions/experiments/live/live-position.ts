import { isStreamPosition } from '../../../shared/data/packed/chunk-stream.ts';

/** What a follower of an experiment has seen. The client keeps it, so a restart loses nothing. */
export interface LivePosition {
  /** Version of the experiment's record. */
  version: number;
  /** Rank of its status. */
  rank: number;
  /** Version of its fields; 0 without fields. */
  fields: number;
  /** Time of the answer, in epoch milliseconds. */
  answered_at: number;
  /** Positions in its log and in its points. */
  log: string;
  points: string;
}

export const positionText = ({ version, rank, fields, answered_at, log, points }: LivePosition): string =>
  [version, rank, fields, answered_at, log, points].join('!');

/** Parse a position; undefined for another text. */
export function parsePosition(text: string): LivePosition | undefined {
  const [, version, rank, fields, answered_at, log = '', points = ''] = pattern.exec(text) ?? [];
  if (!isStreamPosition(log) || !isStreamPosition(points)) return undefined;
  return {
    version: Number(version),
    rank: Number(rank),
    fields: Number(fields),
    answered_at: Number(answered_at),
    log,
    points,
  };
}

const pattern = /^(\d{1,15})!(\d{1,2})!(\d{1,15})!(\d{1,15})!([^!]+)!([^!]+)$/;
