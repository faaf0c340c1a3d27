import type { Receipt } from '../../../shared/onnx/receipt/receipt.ts';

/** A compressed model with its receipt. */
export interface Variant {
  title: string;
  receipt: Receipt;
  /** How many times as fast as the trained model it is; undefined where that was not measured. */
  speed: number | undefined;
}
