import type { Receipt } from '../../shared/onnx/receipt/receipt.ts';

/** A compressed model with its receipt. */
export interface Variant {
  title: string;
  receipt: Receipt;
}
