import { ModelError } from '../model-error.ts';
import { type InspectLimits, maxNameBytes, usualLimits } from './inspect-limits.ts';
import type { ModelSummary } from './model-summary.ts';
import { scanGraph, scanNode } from './scan-graph.ts';
import { SummaryDraft } from './summary-draft.ts';
import { eachField, type InspectSource, signed, WireReader } from './wire-reader.ts';

/** Fields of ModelProto. */
const model = { irVersion: 1, producerName: 2, producerVersion: 3, graph: 7, opset: 8, function: 25 };

/**
 * Summarize an ONNX model without reading its weights. Reads only the ranges that contain its structure, one after
 * the other. Memory stays below a few megabytes for any file size.
 *
 * Does not check the graph; loading the model does that. Field numbers follow onnx.proto of ONNX 1.23.
 * @throws ModelError for a file that is not an ONNX model, is truncated, or exceeds a limit
 */
export async function inspectModel(
  source: InspectSource,
  limits: InspectLimits = usualLimits,
): Promise<ModelSummary> {
  const reader = new WireReader(source, limits);
  const draft = new SummaryDraft(limits);
  if (source.size === 0) throw new ModelError('This is not an ONNX model: the file is empty.');
  await eachField(reader, source.size, async ({ number, wire, value, end }) => {
    if (number === model.irVersion && wire === 'varint') {
      const version = signed(value);
      if (version === undefined || version < 1)
        throw new ModelError('This is not an ONNX model: its IR version is impossible.');
      draft.irVersion = version;
    }
    if (wire !== 'bytes') return;
    if (number === model.producerName) {
      draft.producerName = await reader.text(end, maxNameBytes);
      draft.show(draft.producerName);
    } else if (number === model.producerVersion) {
      draft.producerVersion = await reader.text(end, maxNameBytes);
      draft.show(draft.producerVersion);
    } else if (number === model.opset) await scanOpset(reader, end, draft);
    else if (number === model.function) await scanFunction(reader, end, draft);
    else if (number === model.graph) {
      if (draft.hasGraph) throw new ModelError('This is not an ONNX model: it has two graphs.');
      draft.hasGraph = true;
      await scanGraph(reader, end, draft, 0);
    }
  });
  return draft.finish();
}

async function scanOpset(reader: WireReader, end: number, draft: SummaryDraft): Promise<void> {
  let domain = '';
  let version = 0;
  await eachField(reader, end, async ({ number, wire, value, end: fieldEnd }) => {
    if (number === 1 && wire === 'bytes') domain = await reader.text(fieldEnd, maxNameBytes);
    if (number === 2 && wire === 'varint') version = signed(value) ?? 0;
  });
  draft.addOpset(domain, version);
}

/** The node field of FunctionProto. */
const functionNode = 7;

async function scanFunction(reader: WireReader, end: number, draft: SummaryDraft): Promise<void> {
  draft.functions += 1;
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (number === functionNode && wire === 'bytes') await scanNode(reader, fieldEnd, draft, 1);
  });
}
