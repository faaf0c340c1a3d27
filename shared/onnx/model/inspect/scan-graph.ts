import { ModelError } from '../model-error.ts';
import { maxNameBytes } from './inspect-limits.ts';
import { type ScannedTensor, scanSparse, scanTensor } from './scan-tensor.ts';
import { scanValueInfo } from './scan-value-info.ts';
import type { SummaryDraft } from './summary-draft.ts';
import { eachField, type WireReader } from './wire-reader.ts';

/** Fields of GraphProto. */
const graph = { node: 1, initializer: 5, input: 11, output: 12, sparseInitializer: 15 };

/** Scan a GraphProto up to `end`. Depth 0 is the model's own graph; deeper graphs belong to nodes. */
export async function scanGraph(
  reader: WireReader,
  end: number,
  draft: SummaryDraft,
  depth: number,
): Promise<void> {
  if (depth > draft.limits.depth)
    throw new ModelError(`The model nests graphs more than ${draft.limits.depth} deep.`);
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (wire !== 'bytes') return;
    if (number === graph.node) await scanNode(reader, fieldEnd, draft, depth);
    else if (number === graph.initializer)
      countInitializer(draft, await scanTensor(reader, fieldEnd, draft), depth);
    else if (number === graph.sparseInitializer)
      countInitializer(draft, await scanSparse(reader, fieldEnd, draft), depth);
    else if (depth === 0 && number === graph.input)
      draft.addTensor('inputs', await scanValueInfo(reader, fieldEnd));
    else if (depth === 0 && number === graph.output)
      draft.addTensor('outputs', await scanValueInfo(reader, fieldEnd));
  });
}

/** Fields of NodeProto. */
const node = { operator: 4, attribute: 5, domain: 7 };

/** Scan a NodeProto up to `end` with its graphs. `depth` is the number of enclosing graphs. */
export async function scanNode(
  reader: WireReader,
  end: number,
  draft: SummaryDraft,
  depth: number,
): Promise<void> {
  let operator = '';
  let domain = '';
  let held: ScannedTensor[] = [];
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (wire !== 'bytes') return;
    if (number === node.operator) operator = await reader.text(fieldEnd, maxNameBytes);
    else if (number === node.domain) domain = await reader.text(fieldEnd, maxNameBytes);
    else if (number === node.attribute)
      held = held.concat(await scanAttribute(reader, fieldEnd, draft, depth));
  });
  draft.countOperator(domain, operator);
  // Some exporters, such as PaddlePaddle's, hold all weights in Constant nodes.
  if (operator === 'Constant' && (domain === '' || domain === 'ai.onnx'))
    for (const tensor of held) countValues(draft, tensor);
}

/** Fields of AttributeProto that contain tensors or graphs. */
const attribute = { tensor: 5, graph: 6, tensors: 10, graphs: 11, sparse: 22, sparses: 23 };

/** Scan an AttributeProto up to `end`. Return its own tensors. */
async function scanAttribute(
  reader: WireReader,
  end: number,
  draft: SummaryDraft,
  depth: number,
): Promise<ScannedTensor[]> {
  const held: ScannedTensor[] = [];
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (wire !== 'bytes') return;
    if (number === attribute.graph || number === attribute.graphs) {
      draft.hasControlFlow = true;
      await scanGraph(reader, fieldEnd, draft, depth + 1);
    } else if (number === attribute.tensor || number === attribute.tensors) {
      held.push(await scanTensor(reader, fieldEnd, draft));
    } else if (number === attribute.sparse || number === attribute.sparses) {
      held.push(await scanSparse(reader, fieldEnd, draft));
    }
  });
  return held;
}

function countInitializer(draft: SummaryDraft, tensor: ScannedTensor, depth: number): void {
  draft.initializers += 1;
  countValues(draft, tensor);
  if (depth > 0) return;
  draft.keep(tensor.name);
  draft.initializerNames.add(tensor.name);
}

function countValues(draft: SummaryDraft, { elements, bytes }: ScannedTensor): void {
  draft.parameters += elements;
  draft.initializerBytes += bytes;
  if (!Number.isSafeInteger(draft.initializerBytes) || !Number.isSafeInteger(draft.parameters))
    throw new ModelError('The tensors of the model are impossibly large together.');
}
