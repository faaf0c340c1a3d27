import { outerNames } from '../../graph/graph-index.ts';
import { type Model, microsoft } from '../../model/model.ts';
import { isExcluded } from '../../transform/excluded.ts';
import { elementwiseRules } from './elementwise-rules.ts';
import { joiningRules } from './joining-rules.ts';
import { layerRules } from './layer-rules.ts';
import { normRules } from './norm-rules.ts';
import { followCounts } from './shape-counts.ts';
import { shapeRules } from './shape-rules.ts';
import { type ChannelRule, Site } from './site.ts';
import { Survey } from './survey.ts';

/** Operators of ONNX Runtime whose names and meanings are not found in ONNX. */
const microsoftRules = new Set(['Gelu', 'FastGelu', 'QuickGelu']);

function ruleOf({ node }: Site): ChannelRule | undefined {
  const { opType, domain } = node;
  if (domain === microsoft && !microsoftRules.has(opType)) return undefined;
  if (domain !== '' && domain !== 'ai.onnx' && domain !== microsoft) return undefined;
  return (
    elementwiseRules.get(opType) ??
    normRules.get(opType) ??
    joiningRules.get(opType) ??
    shapeRules.get(opType)
  );
}

function visit(site: Site): void {
  const { survey, node } = site;
  const layer = node.domain === '' ? layerRules.get(node.opType) : undefined;
  followCounts(site);
  if (layer !== undefined) {
    layer(site);
    return;
  }
  const hasCounts = node.opType === 'Reshape' && survey.counts.has(node.input[1] ?? '');
  if (site.allCarried().length === 0 && !hasCounts) return;
  const rule = ruleOf(site);
  if (rule === undefined) site.lock(`${site.label} is not understood`);
  else rule(site);
}

function lockNames(survey: Survey, names: Iterable<string>, why: string): void {
  for (const name of names) {
    survey.channels.lock(survey.carried.get(name)?.labels ?? [], why);
    for (const labels of survey.counts.get(name) ?? []) survey.channels.lock(labels ?? [], why);
  }
}

/**
 * Goes through a model's graph and finds out which channels can be removed, together with which others, and what has
 * to be changed with them: every axis of constants, every shape. Nothing is changed yet.
 */
export function surveyModel(model: Model, exclude: readonly string[]): Survey {
  const survey = new Survey(model);
  const { graph } = model;
  for (const node of graph.nodes) {
    visit(new Site(survey, node, isExcluded(node, exclude)));
    lockNames(survey, outerNames(graph, node), `a body of ${node.opType} uses them`);
  }
  lockNames(
    survey,
    graph.outputs.map(({ name }) => name),
    'they are an output of the model',
  );
  return survey;
}
