import type { Model } from '../../model/file/model.ts';
import { ModelError } from '../../model/model-error.ts';
import { readTensor } from '../../model/tensor/read-tensor.ts';

/**
 * Check the tensors in attributes. A session must not load a tensor that misstates its size or lies outside the
 * model's folder.
 *
 * @throws ModelError for such tensors, and for sparse tensors, which are not supported
 */
export function checkAttributes({ graph, external }: Model): void {
  for (const { nodes } of graph.all()) {
    for (const node of nodes) {
      for (const { t, tensors, sparseTensor, sparseTensors, name } of node.attribute) {
        if (sparseTensor !== undefined || sparseTensors.length > 0) {
          throw new ModelError(
            `The attribute ${JSON.stringify(name)} of ${node.opType} is sparse, which is not supported.`,
          );
        }
        for (const bytes of t.length > 0 ? [t, ...tensors] : tensors) readTensor(bytes, external);
      }
    }
  }
}
