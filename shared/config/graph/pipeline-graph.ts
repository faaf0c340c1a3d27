import { dependencyKeys, type Stage, type Stages } from './find-stages.ts';
import { GraphDraft } from './graph-draft.ts';
import { attributesOf } from './node-attributes.ts';
import { PipelineOutputs } from './pipeline-outputs.ts';
import { dependencyNames, mentionedStages, outputNames } from './stage-names.ts';

const notAttributes: ReadonlySet<string> = new Set(['id', 'name', 'do']);

/**
 * Build the graph of stages. An edge leads from a stage to each stage that names it or one of its outputs as a
 * dependency.
 */
export function pipelineGraph({ type, list, ordered }: Stages): GraphDraft {
  const draft = new GraphDraft();
  const byName = new Map<string, string>();
  const outputs = new PipelineOutputs();
  const nodes = list.map((stage, index) => {
    const id = draft.addNode(
      stage.names[0] ?? `${type} ${index + 1}`,
      labelOf(stage, type, index),
      type,
      attributesOf(stage.body, notAttributes),
    );
    return { id, stage };
  });
  for (const { id, stage } of nodes) {
    for (const name of stage.names) if (!byName.has(name)) byName.set(name, id);
    for (const path of outputNames(stage.body)) outputs.add(path, id);
  }
  for (const { id, stage } of nodes) {
    for (const name of dependencyNames(stage.body)) {
      const producer = byName.get(name);
      if (producer !== undefined) draft.connect(producer, id);
      else if (!connectProducers(draft, outputs, id, name)) {
        for (const mentioned of mentionedStages(name)) draft.connect(byName.get(mentioned), id, name);
      }
    }
  }
  const silent = nodes.every(({ stage }) => dependencyKeys.every((key) => stage.body[key] === undefined));
  if (ordered && silent) chain(draft, nodes);
  return draft;
}

function labelOf({ names, body }: Stage, type: string, index: number): string {
  const name = body['name'];
  if (typeof name === 'string' && name !== '') return name;
  const { uses } = body;
  return names[0] ?? (typeof uses === 'string' ? uses : `${type} ${index + 1}`);
}

function connectProducers(draft: GraphDraft, outputs: PipelineOutputs, id: string, name: string): boolean {
  const producers = outputs.producers(name, id);
  for (const producer of producers) draft.connect(producer, id, name);
  return producers.length > 0;
}

function chain(draft: GraphDraft, nodes: readonly { id: string }[]): void {
  let previous: string | undefined;
  for (const { id } of nodes) {
    if (previous !== undefined) draft.connect(previous, id);
    previous = id;
  }
}
