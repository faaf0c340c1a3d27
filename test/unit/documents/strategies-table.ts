import { pruneFacts, pruneStrategyNames } from '../../../shared/onnx/strategies/prune-strategies.ts';
import { quantizeFacts, quantizeStrategyNames } from '../../../shared/onnx/strategies/quantize-strategies.ts';
import type { StrategyFacts } from '../../../shared/onnx/strategies/strategy-facts.ts';

/** Format every strategy as a Markdown table for the README of the engine. */
export function strategiesTable(): string {
  const prunings = pruneStrategyNames.map((name) => {
    const { compression } = pruneFacts(name);
    return row(
      'prune',
      name,
      pruneFacts(name),
      compression === undefined ? [] : [`compression ${compression}`],
    );
  });
  const quantizations = quantizeStrategyNames.map((name) => {
    const facts = quantizeFacts(name);
    const precisions = facts.combinations.map(({ precision }) => precision);
    return row('quantize', name, facts, [`precision ${precisions.join(' or ')}`]);
  });
  const head = ['| operation | strategy | effect | needs |', '|---|---|---|---|'];
  return [...head, ...prunings, ...quantizations].join('\n');
}

function row(
  operation: string,
  strategy: string,
  facts: StrategyFacts,
  more: readonly string[] = [],
): string {
  const { description, isCalibrated, usesStatistics, minOpset } = facts;
  const needs = [
    ...more,
    ...(isCalibrated === true || usesStatistics === true ? ['calibration set'] : []),
    ...(minOpset === undefined ? [] : [`opset ${minOpset}`]),
  ];
  return `| ${operation} | \`${strategy}\` | ${description} | ${needs.join(', ')} |`;
}
