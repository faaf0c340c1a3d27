import type { Receipt } from '../../shared/onnx/receipt/receipt.ts';

/** One way of compressing the model, with the receipt of what came of it. */
export interface Variant {
  title: string;
  receipt: Receipt;
}
