import type { ModelFile } from '../data/models/model-file.ts';
import { matchShapes, parseShapes } from '../onnx/model/inspect/match-shapes.ts';
import type { ModelSummary } from '../onnx/model/inspect/model-summary.ts';
import { ModelError } from '../onnx/model/model-error.ts';

/** Describe the missing external data of a model, one line per file; an empty list if the model is complete. */
export function lackingData(
  { external_files, external_bytes }: ModelSummary,
  files: readonly Pick<ModelFile, 'role' | 'name' | 'size'>[],
): string[] {
  return external_files.flatMap((name) => {
    const file = files.find((one) => one.role === 'data' && one.name === name);
    if (file === undefined) return [`${name} is missing`];
    const needed = external_bytes[name] ?? 0;
    return file.size < needed ? [`${name} has ${file.size} bytes but the model reads ${needed}`] : [];
  });
}

/** Shapes stored with a model. */
export interface StoredShapes {
  inputs: string | null;
  outputs: string | null;
}

/** Explain by side why shapes cannot be those of the model. The messages name both shapes. */
export function shapeFaults(
  shapes: StoredShapes,
  summary: Pick<ModelSummary, 'inputs' | 'outputs'>,
): { side: 'inputs' | 'outputs'; fault: string }[] {
  return (['inputs', 'outputs'] as const).flatMap((side) => {
    const text = shapes[side];
    if (text === null) return [];
    const matched = matchShapes(parseShapes(text), summary[side]);
    return matched.ok ? [] : [{ side, fault: matched.fault }];
  });
}

/** Check stored shapes against the model. @throws ModelError if they do not match; it names both */
export function requireShapes(shapes: StoredShapes, summary: ModelSummary): void {
  const [first] = shapeFaults(shapes, summary);
  if (first !== undefined) throw new ModelError(`${first.side}: ${first.fault}`);
}
