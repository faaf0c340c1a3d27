import type { Request } from './workbench.ts';

/** A cell of the table of figures: a method on an architecture, and what the prototype of the engine had. */
export interface Cell {
  what: string;
  /** Requests that are applied one after the other. */
  requests: readonly Request[];
  /** Speed-up against fp32; undefined where it is only told. */
  speedUp?: number;
  /** The same by ONNX Runtime's own quantizer, whose result must not be faster where there is a Python that has it. */
  reference?: 'weight_only';
  /** Millions of bytes of the result. */
  megabytes?: number;
  /** That transforming takes on a machine with nothing else to do, calibration on 8 samples included. */
  maxSeconds?: number;
}

/** What the prototype took at most. */
const dynamicSeconds = 1.3;
const qdqSeconds = 3.5;

/** Four times fewer parameters: about half the channels, which no whole number of `compression` gives exactly. */
const structured = (compression: number): Request => ({
  operation: 'prune',
  strategy: 'structured_l2',
  compression,
});
const dynamic = { operation: 'quantize', strategy: 'dynamic', precision: 8 } as const;
const qdq = { operation: 'quantize', strategy: 'static_minmax', precision: 8 } as const;
const weightOnly = { operation: 'quantize', strategy: 'weight_only', precision: 4 } as const;

export const mobilenetCells: readonly Cell[] = [
  { what: 'structured ÷ 4', requests: [structured(4)], speedUp: 2.91, megabytes: 4.87 },
  { what: 'dynamic int8, Conv included', requests: [{ ...dynamic, include: ['Conv'] }] },
  {
    what: 'static QDQ per channel',
    requests: [qdq],
    speedUp: 2.28,
    megabytes: 3.81,
    maxSeconds: qdqSeconds,
  },
  { what: 'structured ÷ 4, then QDQ', requests: [structured(4), qdq], speedUp: 3.46, megabytes: 1.4 },
];

export const resnetCells: readonly Cell[] = [
  { what: 'structured ÷ 4', requests: [structured(4)], speedUp: 3.8, megabytes: 12.22 },
  { what: 'dynamic int8', requests: [dynamic], speedUp: 1.01, maxSeconds: dynamicSeconds },
  {
    what: 'static QDQ per channel',
    requests: [qdq],
    speedUp: 3.14,
    megabytes: 11.79,
    maxSeconds: qdqSeconds,
  },
  { what: 'structured ÷ 4, then QDQ', requests: [structured(4), qdq], speedUp: 9.01, megabytes: 3.12 },
];

export const bertCells: readonly Cell[] = [
  { what: 'structured ÷ 2', requests: [structured(2)], speedUp: 1.39, megabytes: 37.82 },
  { what: 'dynamic int8', requests: [dynamic], speedUp: 2.77, megabytes: 14.24, maxSeconds: dynamicSeconds },
  {
    what: 'static QDQ per channel',
    requests: [qdq],
    speedUp: 2.98,
    megabytes: 14.32,
    maxSeconds: qdqSeconds,
  },
  { what: '4-bit weight only', requests: [weightOnly], speedUp: 1.18, megabytes: 8.93 },
];

export const shortBertCells: readonly Cell[] = [
  {
    what: '4-bit weight only',
    requests: [weightOnly],
    speedUp: 7.16,
    reference: 'weight_only',
    megabytes: 8.93,
  },
];
