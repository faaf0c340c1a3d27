import type { Model } from '../../../../shared/onnx/model/file/model.ts';
import { Draft } from './draft.ts';

function block(draft: Draft, input: string, from: number, to: number, stride: number): string {
  const first = draft.node('Relu', [draft.conv(input, { from, to, kernel: 3, stride })]);
  const second = draft.conv(first, { from: to, to, kernel: 3 });
  const beside = stride === 1 && from === to ? input : draft.conv(input, { from, to, kernel: 1, stride });
  return draft.node('Relu', [draft.node('Add', [second, beside])]);
}

/** The shape of ResNet-18 (He et al., 2015): residual blocks of two 3 × 3 convolutions; 11.69 million parameters. */
export function resnet18(seed = 18): Model {
  const draft = new Draft(seed);
  const stem = draft.node('Relu', [draft.conv('input', { from: 3, to: 64, kernel: 7, stride: 2 })]);
  let value = draft.node('MaxPool', [stem], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  let from = 64;
  for (const [to, stride] of [
    [64, 1],
    [128, 2],
    [256, 2],
    [512, 2],
  ] as const) {
    value = block(draft, value, from, to, stride);
    value = block(draft, value, to, to, 1);
    from = to;
  }
  return draft.finish([1, 3, 224, 224], draft.classifier(value, 512, 1000), [1, 1000]);
}
