import type { Model } from '../../../../shared/onnx/model/file/model.ts';
import { Draft } from './draft.ts';

/** Expansion, output channels, repetitions and first stride of each stage (Sandler et al., 2018, table 2). */
const stages = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
] as const;

/** The shape of MobileNetV2: inverted residuals with depthwise convolutions; 3.5 million parameters. */
export function mobilenetV2(seed = 2): Model {
  const draft = new Draft(seed);
  const zero = draft.filled('zero', [], 0);
  const six = draft.filled('six', [], 6);
  const relu6 = (value: string): string => draft.node('Clip', [value, zero, six]);
  let value = relu6(draft.conv('input', { from: 3, to: 32, kernel: 3, stride: 2 }));
  let from = 32;
  for (const [expansion, to, repetitions, firstStride] of stages) {
    for (let at = 0; at < repetitions; at += 1) {
      const stride = at === 0 ? firstStride : 1;
      const hidden = from * expansion;
      const wide = expansion === 1 ? value : relu6(draft.conv(value, { from, to: hidden, kernel: 1 }));
      const deep = relu6(draft.conv(wide, { from: hidden, to: hidden, kernel: 3, stride, group: hidden }));
      const narrow = draft.conv(deep, { from: hidden, to, kernel: 1 });
      value = stride === 1 && from === to ? draft.node('Add', [value, narrow]) : narrow;
      from = to;
    }
  }
  value = relu6(draft.conv(value, { from, to: 1280, kernel: 1 }));
  return draft.finish([1, 3, 224, 224], draft.classifier(value, 1280, 1000), [1, 1000]);
}
